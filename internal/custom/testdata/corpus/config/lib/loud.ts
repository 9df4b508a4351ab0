// Imports what imports it.
import * as text from "./text"

export function shout(word: string): string {
  return word.toUpperCase()
}
export const describe = () => text.plural(2, "word")
