import { ConfigurationError } from '@causeway/core'
import { z } from 'zod'

type Variables = Readonly<Record<string, string | undefined>>

const serviceFileSchema = z.record(z.string(), z.string())

/**
 * The environment of a command. Without ENVIRONMENT it is the local network of `npm start`: then settings come from the
 * file that this network wrote for its service, and variables that are set override them. With DATABASE_URL set,
 * ENVIRONMENT must be set too, so that no command takes a real database for a local one.
 * @param readServiceFile reads the service file in the folder of a local network, relative to the repository
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
  const setEntries = Object.entries(variables).filter(([, value]) => value !== undefined && value !== '')
  const serviceSettings = await readService(folder, readServiceFile)
  return { ENVIRONMENT: 'local', ...serviceSettings, ...Object.fromEntries(setEntries) }
}

/** Empty without a file: the network never started, and only commands that need no chain can run. */
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
