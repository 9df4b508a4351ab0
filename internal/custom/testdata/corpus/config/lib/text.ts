import { shout } from "./loud"

export const plural = (n: number, word: string, many = `${word}s`) => `${n} ${n === 1 ? word : many}`
export const indent = (text: string, by = 2) => text.replace(/^(?=.)/gm, " ".repeat(by))
export function heading(text: string): string {
  return `${shout(text)}\n${"=".repeat(text.length)}`
}
export default { plural, indent, heading }
