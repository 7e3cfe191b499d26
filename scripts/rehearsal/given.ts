// Inputs that a rehearsal gives an operator: those that others give him in production.
import { accessSync, constants } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { type Rehearsal, rehearsalEnvironment } from '@causeway/localnet'
import { z } from 'zod'
import { writeFiles } from './draftedFiles.ts'

/** Account that sends coin and tokens, for `fund`. */
const treasurySchema = z.object({
  privateKey: z.templateLiteral(['0x', z.string()]),
  chains: z.record(
    z.string(),
    z.object({
      url: z.url(),
      chainId: z.number(),
      tokens: z.record(z.string(), z.templateLiteral(['0x', z.string()])),
    }),
  ),
})

export type Treasury = z.infer<typeof treasurySchema>

const treasuryFile = 'rehearsal.json'

export async function readTreasury(directory: string): Promise<Treasury> {
  return treasurySchema.parse(JSON.parse(await readFile(join(directory, treasuryFile), 'utf8')))
}

/**
 * Writes the configuration files, and last `given.env`, which a shell reads: by then all else is there.
 * @returns its path
 */
export async function writeGiven(directory: string, root: string, rehearsal: Rehearsal): Promise<string> {
  const { markets, accounts, endpoints } = rehearsal
  await writeFiles(join(directory, 'configs'), root, markets)
  const chains: Treasury['chains'] = {
    base: {
      url: endpoints.base[0] ?? '',
      chainId: markets.base.chainId,
      tokens: { USDC: markets.base.usdc },
    },
    optimism: {
      url: endpoints.optimism[0] ?? '',
      chainId: markets.optimism.chainId,
      tokens: { USDC: markets.optimism.usdc },
    },
    hub: { url: endpoints.hub[0] ?? '', chainId: 537_713, tokens: {} },
  }
  const treasury: Treasury = { privateKey: accounts.treasury.privateKey, chains }
  await writeFile(join(directory, treasuryFile), JSON.stringify(treasury, null, 2), { mode: 0o600 })
  const path = join(directory, 'given.env')
  const lines = Object.entries(givenVariables(directory, rehearsal)).map(
    ([name, value]) => `${name}='${value}'`,
  )
  if (!hasPsql()) lines.push(`PATH='${await writePsql(directory, root)}':"$PATH"`)
  await writeFile(path, `${lines.join('\n')}\n`, { mode: 0o600 })
  return path
}

function givenVariables(directory: string, rehearsal: Rehearsal): Readonly<Record<string, string>> {
  const { accounts, endpoints, databaseUrl, kms, priceServiceUrl, markets } = rehearsal
  return {
    ENVIRONMENT: rehearsalEnvironment,
    CONFIG_DIR: join(directory, 'configs'),
    BASE_RPC_URL: endpoints.base.join(','),
    OPTIMISM_RPC_URL: endpoints.optimism.join(','),
    RELAY_RPC_URL: endpoints.hub.join(','),
    DATABASE_ADMIN_URL: databaseUrl,
    DATABASE_HOST: new URL(databaseUrl).host,
    DEFILLAMA_URL: priceServiceUrl,
    KMS_KEY_ID: kms.keyId,
    KMS_REGION: 'eu-central-1',
    AWS_ENDPOINT_URL_KMS: kms.url,
    AWS_ACCESS_KEY_ID: 'rehearsal',
    AWS_SECRET_ACCESS_KEY: 'rehearsal',
    OWNER_ADDRESS: accounts.treasury.address,
    CUSTODY_ADDRESS: accounts.custody.address,
    USDC_BASE: markets.base.usdc,
    USDC_OPTIMISM: markets.optimism.usdc,
    SPONSOR_ADDRESS: accounts.sponsor.address,
    SPONSOR_PRIVATE_KEY: accounts.sponsor.privateKey,
    USER_PRIVATE_KEY: accounts.user.privateKey,
  }
}

function hasPsql(): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, 'psql'), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

/** For machines without PostgreSQL's client. @returns the folder that it stands in */
async function writePsql(directory: string, root: string): Promise<string> {
  const folder = join(directory, 'bin')
  await mkdir(folder)
  const script = `#!/bin/sh\nexec '${process.execPath}' '${join(root, 'scripts/rehearsal/psql.ts')}' "$@"\n`
  await writeFile(join(folder, 'psql'), script, { mode: 0o700 })
  return folder
}
