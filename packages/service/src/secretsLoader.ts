import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ConfigurationError } from '@causeway/core'
import { parseSecretsFile } from './parseSecretsFile.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Directory where an agent mounts secrets; `SECRETS_DIR` overrides it. @source attestation-oracle.md; rule O-140 */
export const defaultSecretsDirectory = '/vault/secrets'

/**
 * The environment, completed by every regular file of `directory`; a variable that is already set
 * wins. Empty and blank is not set, in the environment and in files: a template that leaves
 * `API_KEYS=` behind must not hide the secret. No directory is no secrets. Files are read in name
 * order; two files that disagree about a variable, an unreadable or a malformed file refuse the start.
 * @throws ConfigurationError naming the file, never its content
 */
export async function loadSecrets(options: {
  environment: Environment
  directory?: string
}): Promise<Environment> {
  const { environment } = options
  const secrets = await readSecrets(options)
  const set = Object.entries(environment).filter(([, value]) => value !== undefined && !isBlank(value))
  return Object.fromEntries([...secrets, ...set])
}

/** Secrets by the files alone. @throws ConfigurationError naming the file, never its content */
export async function readSecrets(options: {
  environment: Environment
  directory?: string
}): Promise<ReadonlyMap<string, string>> {
  const secretsDirectory = options.environment['SECRETS_DIR']
  const {
    directory = secretsDirectory === undefined || isBlank(secretsDirectory)
      ? defaultSecretsDirectory
      : secretsDirectory,
  } = options
  const secrets = new Map<string, string>()
  for (const name of await listFiles(directory)) {
    const values = parseSecretsFile(await readSecretsFile(join(directory, name), name), name)
    for (const [key, value] of values) {
      if (isBlank(value)) continue
      if (secrets.has(key) && secrets.get(key) !== value) {
        throw new ConfigurationError(`${key} has two values; the second is in the secrets file ${name}.`)
      }
      secrets.set(key, value)
    }
  }
  return secrets
}

/** Settings of keys by who has them; each may end in `_FILE` as well. */
const allocatorKeys = [
  'ALLOCATOR_ECDSA_PRIVATE_KEY',
  'ALLOCATOR_ED25519_PRIVATE_KEY',
  'ALLOCATOR_AWS_KMS_SIGNER_KEY_ID',
] as const
/** In no service. */
const custodyKeys = ['CUSTODY_PRIVATE_KEY'] as const
const otherKeys = [
  'ECDSA_PRIVATE_KEY',
  'ED25519_PRIVATE_KEY',
  'BITCOIN_PRIVATE_KEY',
  'TRON_PRIVATE_KEY',
  'LIGHTER_PRIVATE_KEY',
  'LIGHTER_API_KEY',
  'HYPERLIQUID_PRIVATE_KEY',
  'HUB_ECDSA_PRIVATE_KEY',
  'HUB_AWS_KMS_SIGNER_KEY_ID',
  'AWS_KMS_SIGNER_KEY_ID',
  'FILL_WALLET_PRIVATE_KEY',
  'ADMIN_API_KEY',
  'API_KEY_PEPPERS',
  'SOLVER_API_KEY',
] as const

/**
 * The allocator's key pays from every depository: it stands in the allocator's environment alone, and no other
 * service's key stands beside it, so that who takes one process does not have both. Custody's stands in none.
 * @returns sentences that name variables, never their values
 */
export function foreignKeys(service: 'allocator' | 'other', environment: Environment): readonly string[] {
  const foreign = [
    ...(service === 'allocator' ? otherKeys : allocatorKeys).map((name) => ({
      name,
      whose: 'another service’s',
    })),
    ...custodyKeys.map((name) => ({ name, whose: 'no service’s' })),
  ]
  return foreign.flatMap(({ name: key, whose }) =>
    [key, `${key}_FILE`]
      .filter((name) => !isBlank(environment[name] ?? ''))
      .map((name) => `${name} is ${whose} setting, and must not stand here. Remove it.`),
  )
}

function isBlank(value: string): boolean {
  return value.trim() === ''
}

async function listFiles(directory: string): Promise<readonly string[]> {
  let names: string[]
  try {
    names = await readdir(directory)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw new ConfigurationError('The secrets directory cannot be read.', { cause: error })
  }
  const files: string[] = []
  for (const name of names.sort()) {
    // Follows links: mounts often are links into a hidden, versioned directory.
    if ((await stat(join(directory, name))).isFile()) files.push(name)
  }
  return files
}

async function readSecretsFile(path: string, name: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw new ConfigurationError(`The secrets file ${name} cannot be read.`, { cause: error })
  }
}
