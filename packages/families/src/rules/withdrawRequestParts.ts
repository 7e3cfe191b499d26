import type { Hex } from '@causeway/core'
import type { VmType } from '@causeway/core/encodings'
import { InvalidWithdrawRequestError } from '@causeway/core/encodings'
import type { z } from 'zod'

/** Members of a withdraw request that depend on the family, as the caller sent them. */
export type PlainWithdrawRequest = {
  readonly depository: string
  readonly currency: string
  readonly recipient: string
  readonly additionalData?: Readonly<Record<string, unknown>>
}

/** These members as the allocator expects them; `data` is the family's encoding of the additional data. */
export type NormalisedWithdrawRequest = {
  readonly depository: string
  readonly currency: string
  readonly recipient: string
  readonly data: Hex
}

/** Spells a withdraw request for a network of the family. @throws InvalidAddressError, InvalidWithdrawRequestError */
export type SpellWithdrawRequest = (
  request: PlainWithdrawRequest,
  network?: string,
) => NormalisedWithdrawRequest

/**
 * A withdraw request as the allocator expects it. Whether the chain has such a depository or currency is not checked here.
 * @throws whatever `spell` throws
 * @source github.com/relayprotocol/relay-settlement, normalizePayloadParams
 */
export function spellWithdrawRequest(
  spell: SpellWithdrawRequest,
  { depository, currency, recipient, additionalData }: PlainWithdrawRequest,
  network: string | undefined,
): NormalisedWithdrawRequest & { readonly kind: 'withdraw-request' } {
  const request = { depository, currency, recipient, ...(additionalData !== undefined && { additionalData }) }
  return { kind: 'withdraw-request', ...spell(request, network) }
}

const uint64Max = 2n ** 64n - 1n

/**
 * The family's part of the additional data, which a request has under the family's `vmType`.
 * @throws InvalidWithdrawRequestError if it is absent or breaks `schema`
 */
export function additionalDataOf<Data>(
  { additionalData }: PlainWithdrawRequest,
  vmType: VmType,
  schema: z.ZodType<Data>,
): Data {
  const familyEntry =
    additionalData === undefined
      ? undefined
      : Object.entries(additionalData).find(([name]) => name === vmType)
  if (familyEntry?.[1] === undefined) {
    throw new InvalidWithdrawRequestError(`additional data is required for ${vmType}`)
  }
  const parsed = schema.safeParse(familyEntry[1])
  if (parsed.success) return parsed.data
  const field = parsed.error.issues[0]?.path.join('.') ?? ''
  throw new InvalidWithdrawRequestError(`the additional data of ${vmType} is malformed`, field)
}

/** Parses a uint64 from a number or decimal text. @throws InvalidWithdrawRequestError naming `field` */
export function uint64Of(value: number | string, field: string): bigint {
  const parsed = BigInt(value)
  if (parsed > uint64Max) throw new InvalidWithdrawRequestError('a number is no uint64', field)
  return parsed
}
