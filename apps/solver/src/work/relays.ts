import { depositAddressesAbi, permitRouterAbi } from '@causeway/contracts'
import type { Hex } from '@causeway/core'
import { encodeFunctionData } from 'viem'
import { z } from 'zod'
import { amount, calldata, hex } from './payloadFields.ts'

/** Of a transaction before it has a nonce. */
export type PlannedTransaction = { readonly to: Hex; readonly data: Hex; readonly valueWei: bigint }

/** A transaction that moves what others gave; the fill wallet pays its gas and nothing else. */
export type Relay = {
  readonly kind: 'sweep' | 'permit'
  readonly chainId: number
  readonly contract: Hex
  /** Unix seconds. */
  readonly deadline: number
  readonly transaction: PlannedTransaction
}

const addressTerms = z.object({ orderSigner: hex(20), sweeper: hex(20), depositor: hex(20), nonce: hex(32) })
const orderWords = z.object({
  version: hex(32),
  solverChainId: hex(32),
  /** An address with zeros before it. */
  solver: hex(32).transform((word): Hex => `0x${word.slice(-40)}`),
  salt: hex(32).transform(BigInt),
  inputs: hex(32),
  output: hex(32),
  fees: hex(32),
})

/** Payload of a sweep, as the one call that empties the address. */
export const sweepSchema = z
  .object({
    chainId: z.number().int().positive(),
    contract: hex(20),
    /** The native currency's zero address names no token; native coin is swept in any case. */
    currency: hex(20),
    deadline: z.number().int().nonnegative(),
    terms: addressTerms,
    order: orderWords,
    orderSignature: calldata,
  })
  .transform(({ chainId, contract, currency, deadline, terms, order, orderSignature }): Relay => {
    const data = encodeFunctionData({
      abi: depositAddressesAbi,
      functionName: 'sweep',
      args: [terms, order, orderSignature, currency],
    })
    return { kind: 'sweep', chainId, contract, deadline, transaction: { to: contract, data, valueWei: 0n } }
  })

/** Payload of a permit, as the one call that makes its deposit. */
export const permitSchema = z
  .object({
    orderId: hex(32),
    chainId: z.number().int().positive(),
    deadline: z.number().int().nonnegative(),
    permitRouter: hex(20),
    permitKind: z.enum(['eip3009', 'eip2612']),
    token: hex(20),
    owner: hex(20),
    amount,
    signature: calldata,
  })
  .transform(({ chainId, deadline, permitRouter: contract, permitKind, signature, ...signed }): Relay => {
    const { token, owner, orderId: id } = signed
    const data = encodeFunctionData({
      abi: permitRouterAbi,
      functionName: permitKind === 'eip3009' ? 'depositWithAuthorization' : 'depositWithPermit',
      args: [{ token, owner, amount: signed.amount, deadline: BigInt(deadline), id }, signature],
    })
    return { kind: 'permit', chainId, contract, deadline, transaction: { to: contract, data, valueWei: 0n } }
  })
