// The search of the documentation, and little else: all pages can be read
// without this. It works from a disk, where a page may load scripts but fetch
// nothing, so its index is a script that comes when search is first used.
'use strict';

(() => {
  const top = document.currentScript.dataset.top;
  const box = document.querySelector('.search');
  const input = document.getElementById('_q');
  const panel = box.querySelector('.found');
  const said = document.getElementById('_said');
  const list = document.getElementById('_hits');
  const most = 30; // hits that are shown

  let sections = null; // once the index is there
  let asked = false; // for the index
  let chosen = -1;

  // fold makes text alike that people take for the same. It keeps its length,
  // so that a place in it is a place in the text.
  const fold = text => Array.from(text, c => {
    const plain = c.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
    return plain.length === c.length ? plain : c;
  }).join('');

  const inWord = c => c !== undefined && /[\p{L}\p{N}_]/u.test(c);

  // places are where a word stands in a text, with whether it begins a word
  // there and whether it is one.
  function* places(text, word) {
    for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
      const begins = !inWord(text[at - 1]) || !inWord(word[0]);
      const ends = !inWord(text[at + word.length]);
      yield { at, begins, whole: begins && ends };
    }
  }

  // worth says how well a word fits a text: whole words before beginnings
  // before what is within a word, and often before once.
  function worth(text, word) {
    let best = 0;
    let times = 0;
    for (const place of places(text, word)) {
      best = Math.max(best, place.whole ? 3 : place.begins ? 2 : word.length > 2 ? 1 : 0);
      if (place.begins && ++times === 5) break;
    }
    return best + times * 0.2;
  }

  // score adds up what a section is worth for all words; 0 where one is
  // missing, unless some are enough.
  function score(section, words, some) {
    let sum = 0;
    let met = 0;
    for (const word of words) {
      const title = worth(section.foldedTitle, word);
      const heading = worth(section.foldedHeading, word);
      const text = worth(section.foldedText, word);
      if (title + heading + text > 0) met++;
      sum += heading * 8 + text + title * (section.first ? 12 : 2);
    }
    if (met === 0 || met < words.length && !some) return 0;
    const phrase = words.join(' ');
    if (words.length > 1) {
      if (section.foldedHeading.includes(phrase)) sum += 20;
      if (section.foldedText.includes(phrase)) sum += 8;
    }
    return sum * met / words.length;
  }

  function find(query) {
    const words = fold(query).split(/\s+/).filter(Boolean).slice(0, 8);
    const hits = some => sections
      .map(section => ({ section, worth: score(section, words, some) }))
      .filter(hit => hit.worth > 0)
      .sort((a, b) => b.worth - a.worth);
    const all = hits(false);
    if (all.length > 0 || words.length < 2) return { words, hits: all, some: false };
    return { words, hits: hits(true), some: true };
  }

  // excerpt is the part of a text where most of the words stand.
  function excerpt(section, words) {
    const found = words.flatMap(word => [...places(section.foldedText, word)].slice(0, 20).map(p => ({ ...p, word })));
    found.sort((a, b) => a.at - b.at);
    let best = 0;
    let begin = 0;
    for (const place of found) {
      const near = found.filter(p => p.at >= place.at && p.at < place.at + 140);
      const sum = new Set(near.map(p => p.word)).size * 3 + near.filter(p => p.begins).length * 0.1 + (place.whole ? 1 : 0);
      if (sum > best) {
        best = sum;
        begin = place.at;
      }
    }
    const text = section.text;
    let from = Math.max(0, begin - 50);
    if (from > 0) from = text.indexOf(' ', from) + 1 || from;
    let to = Math.min(text.length, from + 180);
    if (to < text.length) to = Math.max(text.lastIndexOf(' ', to), begin + 1);
    return { from, to };
  }

  // marked puts a piece of a text into a node, with the words in it marked.
  function marked(node, text, folded, words) {
    const spots = words.flatMap(word => [...places(folded, word)].filter(p => p.begins || word.length > 2).map(p => [p.at, p.at + word.length]));
    spots.sort((a, b) => a[0] - b[0]);
    let at = 0;
    for (const [from, to] of spots) {
      if (from < at) continue;
      node.append(text.slice(at, from));
      const mark = document.createElement('mark');
      mark.textContent = text.slice(from, to);
      node.append(mark);
      at = to;
    }
    node.append(text.slice(at));
  }

  function row(section, words, number) {
    const link = document.createElement('a');
    link.id = `_hit-${number}`;
    link.href = top + section.href + '#' + section.anchor;
    link.setAttribute('role', 'option');
    link.setAttribute('aria-selected', 'false');
    link.tabIndex = -1;
    const name = document.createElement('b');
    if (!section.first) {
      const page = document.createElement('span');
      page.textContent = section.title + ' › ';
      name.append(page);
    }
    marked(name, section.heading, section.foldedHeading, words);
    const part = document.createElement('small');
    const { from, to } = excerpt(section, words);
    if (from > 0) part.append('… ');
    marked(part, section.text.slice(from, to), section.foldedText.slice(from, to), words);
    if (to < section.text.length) part.append(' …');
    link.append(name, part);
    return link;
  }

  function choose(number) {
    const rows = list.children;
    rows[chosen]?.setAttribute('aria-selected', 'false');
    chosen = rows.length === 0 ? -1 : (number + rows.length) % rows.length;
    const row = rows[chosen];
    if (row === undefined) {
      input.removeAttribute('aria-activedescendant');
      return;
    }
    row.setAttribute('aria-selected', 'true');
    row.scrollIntoView({ block: 'nearest' });
    input.setAttribute('aria-activedescendant', row.id);
  }

  function open(yes) {
    panel.hidden = !yes;
    input.setAttribute('aria-expanded', String(yes));
  }

  function show() {
    const query = input.value.trim();
    list.replaceChildren();
    chosen = -1;
    open(query !== '');
    if (query === '') return;
    if (sections === null) {
      said.textContent = asked === 'failed' ? 'The index of the search is missing.' : 'One moment …';
      return;
    }
    const { words, hits, some } = find(query);
    list.append(...hits.slice(0, most).map((hit, i) => row(hit.section, words, i)));
    const count = hits.length > most ? `The best ${most} of ${hits.length} places` : hits.length === 1 ? 'One place' : `${hits.length} places`;
    said.textContent = hits.length === 0 ? 'Nothing was found.' : some ? `${count}, none with all of the words` : count;
    panel.scrollTop = 0;
    choose(0);
  }

  function load() {
    if (asked) return;
    asked = true;
    const script = document.createElement('script');
    script.src = top + 'search-index.js';
    script.onload = () => {
      sections = window.helveIndex.flatMap(page => page.sections.map(({ anchor, heading, text }, i) => ({
        href: page.href, title: page.title, anchor, heading, text, first: i === 0,
        foldedTitle: fold(page.title), foldedHeading: fold(heading), foldedText: fold(text),
      })));
      show();
    };
    script.onerror = () => {
      asked = 'failed';
      show();
    };
    document.head.append(script);
  }

  input.addEventListener('focus', () => {
    load();
    if (input.value !== '') open(true);
  });
  input.addEventListener('input', show);
  input.addEventListener('keydown', event => {
    if (event.isComposing) return;
    if (event.key === 'ArrowDown') choose(chosen + 1);
    else if (event.key === 'ArrowUp') choose(chosen - 1);
    else if (event.key === 'Enter') list.children[chosen]?.click();
    else if (event.key === 'Escape') {
      if (panel.hidden) input.value = '';
      open(false);
    } else return;
    event.preventDefault();
  });
  list.addEventListener('click', event => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    open(false); // the place may be on this page
    input.blur();
  });
  document.addEventListener('pointerdown', event => {
    if (!box.contains(event.target)) open(false);
  });
  document.addEventListener('keydown', event => {
    const typing = event.target.closest?.('input, textarea, select, [contenteditable]');
    if (event.key !== '/' || typing || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    input.focus();
    input.select();
  });

  // Where there is little room, the list of headings folds away.
  if (matchMedia('(max-width: 60rem)').matches) document.querySelector('.toc details')?.removeAttribute('open');

  // A long menu shows where one is.
  const menu = document.querySelector('.menu');
  const here = menu.querySelector('[aria-current]');
  if (here !== null && here.offsetTop > menu.clientHeight - 80) menu.scrollTop = here.offsetTop - menu.clientHeight / 2;

  box.hidden = false;
})();
