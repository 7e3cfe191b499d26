import { readFile } from 'node:fs/promises'
import { parseEnv } from 'node:util'
import { ConfigurationError } from '@causeway/core'
import type { Finding } from '@causeway/core/config'
import { readSecrets } from '../secretsLoader.ts'

/** Environment and flags that a process was started with. */
export type Launch = {
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Node's own options, before the script: `process.execArgv`. */
  readonly nodeOptions: readonly string[]
}

/**
 * Finds variables of env files (`node --env-file`) and of secrets files to which the environment gives another value. The
 * environment silently wins, so a variable left in a shell could lead a service to another database than its file names.
 * @returns a finding for each, without values
 */
export async function findOverridden(launch: Launch): Promise<readonly Finding[]> {
  const fileVariables = [...(await readEnvFiles(launch)), ...(await readSecretVariables(launch))]
  return fileVariables.flatMap(({ name, value, file }): readonly Finding[] => {
    const usedValue = launch.environment[name]
    if (usedValue === undefined || usedValue === value) return []
    return [
      {
        code: 'setting-overridden',
        severity: 'note',
        setting: name,
        seen: `${name} is another one in the environment than in ${file}; the environment wins`,
        fix: `Unset it in the shell that starts the service, or take it out of ${file}.`,
      },
    ]
  })
}

type FileVariable = { readonly name: string; readonly value: string; readonly file: string }

/** Like Node, takes the later of two files that set a variable. An absent file sets none. */
async function readEnvFiles({ nodeOptions }: Launch): Promise<readonly FileVariable[]> {
  const variables = new Map<string, FileVariable>()
  for (const file of envFilesIn(nodeOptions)) {
    const text = await readFile(file, 'utf8').catch(() => '')
    for (const [name, value = ''] of Object.entries(parseEnv(text)))
      variables.set(name, { name, value, file })
  }
  return [...variables.values()]
}

function envFilesIn(nodeOptions: readonly string[]): readonly string[] {
  return nodeOptions.flatMap((option, index) => {
    const [, joined] = /^--env-file(?:-if-exists)?=(.*)$/s.exec(option) ?? []
    if (joined !== undefined) return [joined]
    const nextOption = nodeOptions[index + 1]
    return /^--env-file(-if-exists)?$/.test(option) && nextOption !== undefined ? [nextOption] : []
  })
}

/**
 * Leaves out variables that are blank in the environment, which override no secret. Returns none if the
 * secrets cannot be read, which `loadSecrets` refuses.
 */
async function readSecretVariables({ environment }: Launch): Promise<readonly FileVariable[]> {
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
