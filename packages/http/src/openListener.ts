import { ConfigurationError } from '@causeway/core'
import type { HttpApp } from './fastifyTypes.ts'

/**
 * Opens one listener of a service. `localhost` is 127.0.0.1: Fastify would open a second server for ::1, and
 * that one would lack the limits of the first.
 * @param setting the variable that names its port
 * @returns its URL
 * @throws ConfigurationError naming the setting of a port that cannot be had
 */
export async function openListener(
  app: HttpApp,
  { host, port }: { readonly host: string; readonly port: number },
  setting: string,
): Promise<string> {
  try {
    return await app.listen({ host: host === 'localhost' ? '127.0.0.1' : host, port })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (!/^E[A-Z]+$/.test(code)) throw error
    throw new ConfigurationError(`${setting}: port ${port} cannot be opened (${code}).`, { cause: error })
  }
}
