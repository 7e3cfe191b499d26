import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ConfigurationError } from '@causeway/core'

/** JSON of several files of one directory, in their order. @throws ConfigurationError naming every one that fails */
export async function readConfigFiles(
  directory: string,
  names: readonly string[],
): Promise<readonly unknown[]> {
  const read = await Promise.allSettled(
    names.map(async (name): Promise<unknown> => JSON.parse(await readFile(join(directory, name), 'utf8'))),
  )
  const problems = read.flatMap((result, index) =>
    result.status === 'rejected' ? [`${names[index]}: ${problemOf(result.reason)}`] : [],
  )
  if (problems.length > 0) {
    const files = problems.join('\n- ')
    throw new ConfigurationError(`Files of ${directory} cannot be read; is ENVIRONMENT right?\n- ${files}`)
  }
  return read.map((result) => (result.status === 'fulfilled' ? result.value : undefined))
}

function problemOf(error: unknown): string {
  if (error instanceof SyntaxError) return `is no JSON (${error.message})`
  const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
  return code === 'ENOENT' ? 'does not exist' : `cannot be opened (${code})`
}
