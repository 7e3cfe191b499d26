/** End of a process that nobody stopped, or a failed start. */
export type ProcessEnd = {
  readonly name: string
  /** In words: `ended with exit code 1`. */
  readonly how: string
  readonly logFile: string
  readonly lastOutput: string
}

const linesShown = 15

/** One line that names the process and its log, then the last lines it wrote. */
export function describeEnd({ name, how, logFile, lastOutput }: ProcessEnd): string {
  const lines = lastOutput.trimEnd().split('\n').slice(-linesShown)
  return [`${name} ${how}; its log is ${logFile}`, ...lines.filter((line) => line !== '')].join('\n')
}

/** The network cannot start because one of its processes did not; the message is for people. */
export class StartFailure extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'StartFailure'
  }
}
