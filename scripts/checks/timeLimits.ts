import type { Check } from './finding.ts'

const shipped = /^(apps|packages(?!\/localnet))\/.*\.ts$/

/**
 * What is shipped ends its calls in time. On Node 20 a signal of `AbortSignal.any` holds its sources
 * weakly: one that comes of `AbortSignal.timeout` is collected as garbage and never fires, and the call
 * that it should end hangs.
 */
export const timeLimitsCheck: Check = {
  name: 'time limits',
  find: (files) =>
    files
      .filter(({ path, text }) => shipped.test(path) && /\bAbortSignal\s*\.any\(/.test(text))
      .map(({ path }) => ({ file: path, problem: 'AbortSignal.any may never fire; use startDeadline' })),
}
