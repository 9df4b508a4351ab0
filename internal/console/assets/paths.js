// Paths as the server writes them: of its own system, which may be Windows.

const WINDOWS = /^(?:[A-Za-z]:|\\\\)/; // a drive, or a name in the network

/** A path that can be compared with others of the same system. */
function plain(path) {
  return WINDOWS.test(path) ? path.replaceAll('\\', '/').toLowerCase() : path;
}

/** What a path is called from a folder: '' for the folder itself, null where it lies elsewhere. */
export function within(path, folder) {
  if (!path || !folder || folder === '/') return null; // everything is below the root, which says nothing
  const root = folder.replace(WINDOWS.test(folder) ? /[\\/]+$/ : /\/+$/, '');
  const [whole, start] = [plain(path), plain(root)];
  if (whole === start) return '';
  return whole.startsWith(start + '/') ? path.slice(root.length + 1) : null;
}
