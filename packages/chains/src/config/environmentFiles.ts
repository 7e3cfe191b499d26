import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Findings } from '@causeway/core/config'
import { adviceOnFilling, unfilledPlaces, withoutDeployedAddresses } from './unfilled.ts'

/** The files that an environment may have: `<name>.<environment>.json`. */
export const environmentFileNames = ['chains', 'chains.hub', 'quote', 'solver', 'allocator'] as const

type EnvironmentFolder = {
  readonly directory: string
  readonly environment: string
  /** True for the command that deploys, which fills in addresses by itself. */
  readonly isDeploying?: boolean | undefined
}

/**
 * Parsed JSON of one environment's files, in the order of `names`; `undefined` for a file that cannot be read or has
 * places that are still to be filled in.
 * @param names e.g. `chains`: of `chains.<environment>.json`
 * @param findings takes the reasons; for an environment without a chain file, one finding that lists those with one
 */
export async function readEnvironmentFiles(
  { directory, environment, isDeploying = false }: EnvironmentFolder,
  names: readonly string[],
  findings: Findings,
): Promise<readonly unknown[]> {
  const fileNames = names.map((name) => `${name}.${environment}.json`)
  const { files, problems } = await tryConfigFiles(directory, fileNames)
  const environments = await knownEnvironments(directory)
  if (environments === undefined) {
    findings.problems([`CONFIG_DIR: the folder ${directory} cannot be listed`])
    return names.map(() => undefined)
  }
  if (!environments.includes(environment)) {
    const others =
      environments.length === 0
        ? 'it holds no chains.<ENVIRONMENT>.json'
        : `known: ${environments.join(', ')}`
    const unknown = `ENVIRONMENT is ${environment}, and chains.${environment}.json is not in ${directory}; ${others}`
    findings.problems([unknown], 'environment-unknown')
    return names.map(() => undefined)
  }
  findings.problems(problems)
  const read = isDeploying
    ? files.map((file, index) => withoutDeployedAddresses(names[index] ?? '', file))
    : files
  return read.map((file, index) => {
    const places = unfilledPlaces(file)
    for (const { path, words } of places)
      findings.add({
        code: 'configuration-unfilled',
        severity: 'stops',
        setting: `${fileNames[index]}: ${path}`,
        seen: words,
        fix: adviceOnFilling(words),
      })
    return places.length === 0 ? file : undefined
  })
}

/** Environments that have a chain file; `undefined` for a directory that cannot be listed. */
async function knownEnvironments(directory: string): Promise<readonly string[] | undefined> {
  try {
    return (await readdir(directory))
      .flatMap((name) => /^chains\.(?!hub\.)(.+)\.json$/.exec(name)?.[1] ?? [])
      .sort()
  } catch {
    return undefined
  }
}

async function tryConfigFiles(directory: string, names: readonly string[]) {
  const read = await Promise.allSettled(
    names.map(async (name): Promise<unknown> => JSON.parse(await readFile(join(directory, name), 'utf8'))),
  )
  return {
    files: read.map((result) => (result.status === 'fulfilled' ? result.value : undefined)),
    problems: read.flatMap((result, index) =>
      result.status === 'rejected' ? [`${names[index]}: ${problemOf(result.reason)}`] : [],
    ),
  }
}

function problemOf(error: unknown): string {
  // The message of a SyntaxError quotes the file, which may hold the key of an endpoint.
  if (error instanceof SyntaxError) return `is no JSON${placeOf(error)}`
  const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
  return code === 'ENOENT'
    ? 'does not exist (causeway config draft writes one)'
    : `cannot be opened (${code})`
}

/** Words for the place where the parser stopped, by the two forms of V8's message. */
function placeOf({ message }: SyntaxError): string {
  const position = /position (\d+)/.exec(message)?.[1]
  if (position !== undefined) return ` (at character ${position})`
  return message.includes('end of JSON') ? ' (it ends too early)' : ''
}
