export type Severity = "low" | "high"
export interface Finding {
  file: string
  line: number
  severity: Severity
}
export enum Level {
  Info = "info",
  Warn = "warn",
}
export const enum Size {
  Small = 10,
  Large = Small * 10,
}
export namespace Names {
  export const tool = "scan"
  export function of(level: Level) {
    return `${tool}:${level}`
  }
}
