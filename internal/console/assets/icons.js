// Small line drawings, in the colour of the text they stand beside.

import { svg } from './dom.js';

const PATHS = {
  sessions: 'M3 4h10v7H7l-3 3v-3H3z',
  requests: 'M8 2.500 13.500 5v3.500c0 2.700-2.200 4.500-5.500 5.500-3.300-1-5.500-2.800-5.500-5.500V5zM8 6v2.500M8 10.800v.1',
  tools: 'M9.500 3a3 3 0 0 1 3.800 3.800L6.800 13.300a1.500 1.500 0 0 1-2.100-2.100L11 5',
  rules: 'M3 4h10M3 8h10M3 12h6',
  changes: 'M8 3v6M5 6h6M5 13h6',
  status: 'M2 8h3l2-5 3 10 2-5h2',
  sun: 'M8 5.200a2.800 2.800 0 1 0 0 5.600 2.800 2.800 0 0 0 0-5.600M8 1.500v1.200M8 13.300v1.200M1.500 8h1.200M13.300 8h1.200M3.400 3.400l.9.9M11.700 11.700l.9.9M3.400 12.600l.9-.9M11.700 4.300l.9-.9',
  moon: 'M13 9.500A5.500 5.500 0 0 1 6.500 3 5.500 5.500 0 1 0 13 9.500z',
  half: 'M8 2.500a5.500 5.500 0 1 0 0 11zM8 2.500a5.500 5.500 0 0 1 0 11',
  close: 'M4 4l8 8M12 4l-8 8',
  right: 'M6 4l4 4-4 4',
  down: 'M4 6l4 4 4-4',
  back: 'M10 4 6 8l4 4',
  stop: 'M4.500 4.500h7v7h-7z',
  send: 'M8 13V3M4 7l4-4 4 4',
  clip: 'M12.500 7.500 8 12a3 3 0 0 1-4.200-4.200l5-5a2 2 0 0 1 2.800 2.800l-4.800 4.800a.9.9 0 0 1-1.300-1.300L9.500 5.200',
  help: 'M6 6.200A2 2 0 1 1 8.600 8c-.5.200-.6.600-.6 1.200M8 11.600v.1',
  minus: 'M4 8h8',
  plus: 'M4 8h8M8 4v8',
  undo: 'M3.500 6.500h6a3 3 0 0 1 0 6H6M3.500 6.500 6 4M3.500 6.500 6 9',
  open: 'M6 3H3v10h10v-3M9 3h4v4M13 3 7.500 8.500',
  compact: 'M8 2.500v4M5.800 4.500 8 6.700l2.200-2.200M8 13.500v-4M5.800 11.500 8 9.300l2.200 2.200M3 8h10',
  spark: 'M8 2.500 9.500 6.500 13.500 8l-4 1.500L8 13.500 6.500 9.500 2.500 8l4-1.500z',
};

/** A drawing by its name. It is ornament: the word stands beside it or in a label. */
export function icon(name, size = 16) {
  return svg('svg', { viewBox: '0 0 16 16', width: size, height: size, 'aria-hidden': 'true', focusable: 'false' },
    svg('path', { d: PATHS[name] || '', fill: 'none', stroke: 'currentColor', 'stroke-width': 1.4, 'stroke-linecap': 'round', 'stroke-linejoin': 'round' }));
}
