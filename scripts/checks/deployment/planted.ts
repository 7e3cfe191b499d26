import { join } from 'node:path'
import { expect } from 'vitest'
import { readRepositoryFiles } from '../repositoryFiles.ts'
import { deploymentCheck } from './deployment.ts'

/** The repository's files as they are. */
export const files = readRepositoryFiles(join(import.meta.dirname, '../../..'))

export const kubernetes = (name: string) => `docker/kubernetes/${name}.yaml`

/** Findings of the check after `from` in a file is replaced by `to`. */
export function problemsWith(path: string, from: string | RegExp, to: string): string {
  const file = files.find((one) => one.path === path)
  const text = file?.text.replace(from, to)
  expect(text).not.toBe(file?.text)
  const changed = files.map((one) => (one.path === path ? { path, text: text ?? '' } : one))
  return deploymentCheck
    .find(changed)
    .map(({ file: where, problem }) => `${where}: ${problem}`)
    .join('\n')
}
