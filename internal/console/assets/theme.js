// Runs before the first paint, so that the theme somebody has chosen does not
// come after the other one. A plain script: modules run too late for that.
(() => {
  try {
    const theme = localStorage.getItem('helve.theme');
    if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
  } catch {
    // no storage: the system's theme it is
  }
})();
