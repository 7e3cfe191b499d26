export type Progress = {
  /** A sentence. */
  readonly line: (text: string) => void
  /** A part that is up, with the seconds since the last one. */
  readonly stage: (name: string, about: string) => void
  /** The next stage is counted from now. */
  readonly restart: () => void
}

const nameWidth = 11

/** Lines that show where a start is and what took how long. */
export function createProgress(print: (line: string) => void, nowMs: () => number): Progress {
  let lastMs = nowMs()
  return {
    line: print,
    restart() {
      lastMs = nowMs()
    },
    stage(name, about) {
      const seconds = ((nowMs() - lastMs) / 1_000).toFixed(1)
      lastMs = nowMs()
      print(`  ${name.padEnd(nameWidth)} ${seconds.padStart(5)} s  ${about}`)
    },
  }
}
