import type { Hex } from '@causeway/core'
import { encodeFunctionData } from 'viem'
import { z } from 'zod'
import { depositAddressesAbi } from '../contracts/abis.generated.ts'
import type { PlannedTransaction } from './fillTransaction.ts'
import { calldata, hex } from './payloadFields.ts'

/** A transaction that moves what others gave; the fill wallet pays its gas and nothing else. */
export type Relay = {
  readonly kind: 'sweep'
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
