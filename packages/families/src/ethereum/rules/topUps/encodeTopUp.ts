import type { Hex } from '@causeway/core'
import { encodeTransfer } from '../abi.ts'
import { parseCasedAddress } from '../parseCasedAddress.ts'
import { isCreditableOwner, zeroAddress } from './owner.ts'
import { tailMarker } from './tail.ts'

export type TopUpCall = {
  /** The token. */
  readonly to: Hex
  readonly data: Hex
}

/**
 * The transaction that tops up a balance: an ERC-20 transfer to custody, with the credited wallet behind the arguments.
 * Without `owner` the sender is credited, which works only if an ordinary account calls the token directly. Addresses
 * may be in any case; one in mixed case must have a right checksum. The token's smallest unit is a micro-dollar.
 * @throws RangeError on a malformed address, an amount that is no positive uint256, or an owner that cannot hold a
 * balance
 * @source rules Q-topup-01, Q-topup-02, Q-topup-04
 */
export function encodeTopUp(args: {
  token: string
  custody: string
  amountMicroUsd: bigint
  owner?: string
}): TopUpCall {
  const token = readAddress(args.token, 'token')
  const custody = readAddress(args.custody, 'custody')
  const owner = args.owner === undefined ? zeroAddress : readAddress(args.owner, 'owner')
  if (args.amountMicroUsd <= 0n) throw new RangeError('a top-up must be more than nothing')
  if (owner !== zeroAddress && !isCreditableOwner(owner, { token, custody })) {
    throw new RangeError('the owner cannot hold a balance')
  }
  const transfer = encodeTransfer(custody, args.amountMicroUsd)
  return { to: token, data: `${transfer}${tailMarker}${owner.slice(2)}${tailMarker}` }
}

function readAddress(text: string, name: string): Hex {
  const address = parseCasedAddress(text)
  if (address === undefined) {
    throw new RangeError(`the ${name} must be 0x and 40 hex digits, with a right checksum where cased`)
  }
  return address
}
