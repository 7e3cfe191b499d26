import { Secret, type SqlDatabase } from '@causeway/core'
import { parsePeppers } from '../../src/access/keys/peppers.ts'
import { createAdministration } from '../../src/operate/administration.ts'
import { pepperText, type TestSponsor } from '../sponsorSupport/sponsors.ts'

/** Has a key's requests told to a receiver on this machine. */
export async function setWebhook(database: SqlDatabase, { keyId }: TestSponsor, url: string): Promise<void> {
  const { webhooks } = createAdministration({
    config: { environment: 'local', configDirectory: 'configs', webhooks: { allowPrivate: true } },
    database,
    peppers: parsePeppers(new Secret(pepperText)),
  })
  await webhooks.set({ actor: 'cli:test', apiKeyId: keyId, url, headers: {} })
}
