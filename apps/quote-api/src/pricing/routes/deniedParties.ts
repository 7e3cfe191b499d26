import { type DenyList, isDenied } from '@causeway/chains'
import type { VmCodec } from '@causeway/core/encodings'
import { QuoteError } from '../errors.ts'
import type { QuoteRegistry } from '../registry.ts'
import type { QuoteRequest } from '../request.ts'

/** An account, how its chain spells it, and the member of a request that names it. */
export type Party = {
  readonly field: string
  readonly address: string
  readonly codec: Pick<VmCodec, 'spellAddress'>
}

/** The members of a request that name accounts. */
type PartyMembers = Pick<
  QuoteRequest,
  'user' | 'recipient' | 'refundTo' | 'depositFeePayer' | 'originChainId' | 'destinationChainId'
> & {
  readonly appFees: readonly { readonly recipient: string }[]
  /** Calls on the destination. Accounts inside their data are not compared. */
  readonly txs: readonly { readonly to: string }[]
}

/** Codec for chains that left the configuration: their accounts are compared as they are stored. */
const asWritten: Pick<VmCodec, 'spellAddress'> = { spellAddress: (text) => text }

/**
 * Every account that sends, receives, signs or is refunded by a request. `resolveRoute` refuses what is no address of
 * its chain.
 */
export function partiesOf(
  { chainById }: Pick<QuoteRegistry, 'chainById'>,
  members: PartyMembers,
): readonly Party[] {
  const { user, recipient, refundTo, depositFeePayer, appFees, txs } = members
  const origin = chainById.get(members.originChainId)?.codec ?? asWritten
  const destination = chainById.get(members.destinationChainId)?.codec ?? asWritten
  return [
    { field: 'user', address: user, codec: origin },
    // Without a recipient the user receives, under the spelling of the destination.
    recipient === undefined
      ? { field: 'user', address: user, codec: destination }
      : { field: 'recipient', address: recipient, codec: destination },
    ...(refundTo === undefined ? [] : [{ field: 'refundTo', address: refundTo, codec: origin }]),
    ...(depositFeePayer === undefined
      ? []
      : [{ field: 'depositFeePayer', address: depositFeePayer, codec: origin }]),
    // These are EVM addresses in lower case, which no codec changes.
    ...appFees.map(({ recipient: address }, index) => ({
      field: `appFees.${index}.recipient`,
      address,
      codec: origin,
    })),
    ...txs.map(({ to: address }, index) => ({ field: `txs.${index}.to`, address, codec: destination })),
  ]
}

/** The member of the first account that the list denies; undefined where it denies none. */
export function deniedField(
  list: DenyList,
  parties: readonly Party[],
  keyId: string | undefined,
): string | undefined {
  return parties.find(({ address, codec }) => isDenied(list, codec, address, keyId))?.field
}

/**
 * Names the member and nothing else: neither the list, nor why, nor whether another account is on it too.
 * @source rule O-174
 */
export function deniedError(field: string): QuoteError {
  return new QuoteError('SANCTIONED_WALLET_ADDRESS', `${field} names an account that is not served.`, {
    data: { field },
  })
}

/** Routes call it before they price a request. @throws QuoteError SANCTIONED_WALLET_ADDRESS */
export function refuseDeniedRequest(
  { denyList, registry }: { readonly denyList?: DenyList | undefined; readonly registry: QuoteRegistry },
  request: QuoteRequest,
  keyId: string | undefined,
): void {
  if (denyList === undefined) return
  const field = deniedField(denyList, partiesOf(registry, request), keyId)
  if (field !== undefined) throw deniedError(field)
}
