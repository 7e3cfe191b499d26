import { ConfigurationError } from '@causeway/core'
import { z } from 'zod'

type Variables = Readonly<Record<string, string | undefined>>

const serviceFileSchema = z.record(z.string(), z.string())

/**
 * The environment of a command. Nothing set means the network of `npm start`, whose service's own
 * settings are read from its folder; with a database named, the environment must be named as well.
 * @param readServiceFile of the folder of a local network, relative to the repository
 * @throws ConfigurationError
 */
export async function commandEnvironment(
  variables: Variables,
  readServiceFile: (folder: string) => Promise<string>,
): Promise<Variables> {
  const { ENVIRONMENT: environment = '', DATABASE_URL: databaseUrl = '' } = variables
  if (environment === '' && databaseUrl !== '') {
    throw new ConfigurationError('DATABASE_URL is set, so ENVIRONMENT must be set too.')
  }
  if (environment !== '' && environment !== 'local') return variables
  const folder = variables['CAUSEWAY_LOCAL_DIR'] || '.local'
  const set = Object.entries(variables).filter(([, value]) => value !== undefined && value !== '')
  return { ENVIRONMENT: 'local', ...(await readService(folder, readServiceFile)), ...Object.fromEntries(set) }
}

/** No file: the network never started, and only commands that need no chain can run. */
async function readService(
  folder: string,
  readServiceFile: (folder: string) => Promise<string>,
): Promise<Variables> {
  let text: string
  try {
    text = await readServiceFile(folder)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {}
    throw error
  }
  return serviceFileSchema.parse(JSON.parse(text))
}
