import { readFile } from 'node:fs/promises'
import { parseEnv } from 'node:util'
import { ConfigurationError } from '@causeway/core'
import type { Finding } from '@causeway/core/config'
import { readSecrets } from '../secretsLoader.ts'

/** Environment and flags that a process was started with. */
export type Launch = {
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Those before the script: `process.execArgv`. */
  readonly nodeOptions: readonly string[]
}

/**
 * Variables of env files (`node --env-file`) and of secrets files that the environment sets otherwise. It wins over both
 * without a word, so that a variable that a shell exports can lead a service to another database than its file names.
 * @returns a note for each, without values
 */
export async function findOverridden(launch: Launch): Promise<readonly Finding[]> {
  const inFiles = [...(await readEnvFiles(launch)), ...(await secretsOf(launch))]
  return inFiles.flatMap(({ name, value, file }): readonly Finding[] => {
    const used = launch.environment[name]
    if (used === undefined || used === value) return []
    return [
      {
        ...{ code: 'setting-overridden', severity: 'note', setting: name },
        seen: `${name} is another one in the environment than in ${file}; the environment wins`,
        fix: `Unset it in the shell that starts the service, or take it out of ${file}.`,
      },
    ]
  })
}

type Written = { readonly name: string; readonly value: string; readonly file: string }

/** Node has read them by now; of two that set a variable it takes the later. */
async function readEnvFiles({ nodeOptions }: Launch): Promise<readonly Written[]> {
  const written = new Map<string, Written>()
  for (const file of envFilesIn(nodeOptions)) {
    const text = await readFile(file, 'utf8').catch(() => '')
    for (const [name, value = ''] of Object.entries(parseEnv(text))) written.set(name, { name, value, file })
  }
  return [...written.values()]
}

function envFilesIn(nodeOptions: readonly string[]): readonly string[] {
  return nodeOptions.flatMap((option, index) => {
    const [, joined] = /^--env-file(?:-if-exists)?=(.*)$/s.exec(option) ?? []
    if (joined !== undefined) return [joined]
    const next = nodeOptions[index + 1]
    return /^--env-file(-if-exists)?$/.test(option) && next !== undefined ? [next] : []
  })
}

/** A blank variable hides no secret. Files that cannot be read are told by who needs them. */
async function secretsOf({ environment }: Launch): Promise<readonly Written[]> {
  try {
    const secrets = await readSecrets({ environment })
    return [...secrets]
      .filter(([name]) => environment[name]?.trim() !== '')
      .map(([name, value]) => ({ name, value, file: 'the secrets' }))
  } catch (error) {
    if (error instanceof ConfigurationError) return []
    throw error
  }
}
