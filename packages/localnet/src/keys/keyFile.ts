import type { Hex } from '@causeway/core'
import { z } from 'zod'
import { writeFileAtomically } from '../files/atomicFile.ts'
import { hexSchema } from '../files/hexSchema.ts'
import { readJsonFile } from '../files/jsonFile.ts'
import { localAccount } from './generateKeys.ts'
import type { LocalKeys } from './localKeys.ts'
import { keyRoles } from './publishedKeys.ts'

export type KeyFile = {
  /** Ties the keys to the chains of one network: see `chainMarker.ts`. */
  readonly networkId: Hex
  readonly keys: LocalKeys
}

export type KeyFileReading =
  | ({ readonly kind: 'read' } & KeyFile)
  | { readonly kind: 'missing' }
  | { readonly kind: 'unusable' }

const fileVersion = 1

const accountSchema = z
  .object({ address: hexSchema(20), privateKey: hexSchema(32) })
  .refine(({ address, privateKey }) => addressOf(privateKey) === address, 'address and key do not match')

const keyFileSchema = z.object({
  version: z.literal(fileVersion),
  networkId: hexSchema(32),
  keys: z
    .object({
      deployer: accountSchema,
      orderSigner: accountSchema,
      custody: accountSchema,
      fillWallet: accountSchema,
      keeper: accountSchema,
      oracles: z.tuple([accountSchema, accountSchema, accountSchema]),
      sponsor: accountSchema,
      allocator: accountSchema,
      users: z.array(accountSchema).min(6),
    })
    .refine(hasDistinctKeys, 'two roles share a key'),
})

/** Reads the keys of an earlier start; whatever is not a whole file of ours is `unusable`. */
export async function readKeyFile(path: string): Promise<KeyFileReading> {
  const file = await readJsonFile(path)
  if (file.kind === 'missing') return file
  const parsed = keyFileSchema.safeParse(file.json)
  if (!parsed.success) return { kind: 'unusable' }
  const { networkId, keys } = parsed.data
  return { kind: 'read', networkId, keys }
}

/** Writes the keys for their owner's eyes only. */
export async function writeKeyFile(path: string, { networkId, keys }: KeyFile): Promise<void> {
  const text = `${JSON.stringify({ version: fileVersion, networkId, keys }, null, 2)}\n`
  await writeFileAtomically(path, text, { mode: 0o600 })
}

function addressOf(privateKey: Hex): Hex | undefined {
  try {
    return localAccount(privateKey).address
  } catch {
    // Zero and numbers above the curve's order are 32 bytes and no keys.
    return undefined
  }
}

function hasDistinctKeys(keys: LocalKeys): boolean {
  const addresses = keyRoles(keys).map(({ account }) => account.address)
  return new Set(addresses).size === addresses.length
}
