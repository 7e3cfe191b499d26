import { ConfigurationError } from '@causeway/core'
import type { HttpApp } from './fastifyTypes.ts'

/**
 * Opens one listener of a service. `localhost` is replaced by 127.0.0.1: otherwise Fastify would open a second server
 * for ::1, without the limits of the first.
 * @param setting environment variable that names its port
 * @returns its URL
 * @throws ConfigurationError naming the setting, when the port cannot be opened
 */
export async function openListener(
  app: HttpApp,
  { host, port }: { readonly host: string; readonly port: number },
  setting: string,
): Promise<string> {
  try {
    return await app.listen({ host: host === 'localhost' ? '127.0.0.1' : host, port })
  } catch (error) {
    // System errors such as EADDRINUSE; anything else is a bug.
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (!/^E[A-Z]+$/.test(code)) throw error
    throw new ConfigurationError(`${setting}: port ${port} cannot be opened (${code}).`, { cause: error })
  }
}
