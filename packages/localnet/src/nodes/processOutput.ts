import type { ChildProcess } from 'node:child_process'
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'

/** Destination of a child process's output, and its last lines. */
export type ProcessOutput = {
  /** For `stdio` of the spawn. */
  readonly stdio: number | 'pipe'
  /** To be called once, right after the spawn. */
  attach(child: ChildProcess): void
  /** The last 4 000 characters of this process. */
  tail(): string
}

const tailLength = 4_000

/**
 * Appends a child's output to a file, or keeps its end in memory. A child that may outlive its starter
 * needs the file: it must not hold a pipe that nobody reads.
 */
export function collectOutput(logFile: string | undefined): ProcessOutput {
  return logFile === undefined ? memoryOutput() : fileOutput(logFile)
}

function fileOutput(logFile: string): ProcessOutput {
  const stdio = openSync(logFile, 'a')
  const earlierBytes = fstatSync(stdio).size
  return {
    stdio,
    attach: () => closeSync(stdio),
    tail: () => readFileSync(logFile).subarray(earlierBytes).toString('utf8').slice(-tailLength),
  }
}

function memoryOutput(): ProcessOutput {
  let text = ''
  const keep = (chunk: Buffer) => {
    text = (text + chunk.toString()).slice(-tailLength)
  }
  return {
    stdio: 'pipe',
    attach(child) {
      child.stdout?.on('data', keep)
      child.stderr?.on('data', keep)
    },
    tail: () => text,
  }
}
