import { depositAddressesAbi } from '@causeway/contracts'
import { type Hex, maxBigint, orderSchema } from '@causeway/core'
import { type Authorization, encodeForwarded, type PlannedTransaction } from '@causeway/families'
import {
  type CostedTransaction,
  encodePermit,
  encodeSignedDeposit,
  gasUnits,
  permitKinds,
} from '@causeway/families/rules'
import { encodeFunctionData } from 'viem'
import { z } from 'zod'
import { amount, calldata, hex, spelled } from './payloadFields.ts'

export const authorizationSchema = z.object({
  chainId: z.number().int().nonnegative(),
  address: hex(20),
  nonce: z.number().int().nonnegative(),
  yParity: z.number().int().min(0).max(1),
  r: hex(32),
  s: hex(32),
}) satisfies z.ZodType<Authorization>

/**
 * A sweep or a permit as one transaction that the solver sends for others: it moves their money, and the fill wallet pays
 * its gas and nothing else. `handleItem` compares it with the solver's own settings before it is signed.
 */
export type Relay = {
  readonly kind: 'sweep' | 'permit'
  readonly chainId: number
  readonly contract: Hex
  /** Setting of the quote file whose contract on that chain `contract` must be. */
  readonly through: 'depositAddresses' | 'permitRouter' | 'permit2Router' | 'multicall3'
  /** The only account that can send it, where there is one. */
  readonly relayer?: Hex
  /** Account whose signature a permit hands in. */
  readonly signer?: Hex | undefined
  /** Unix seconds. */
  readonly deadline: number
  readonly transaction: PlannedTransaction
  /**
   * The kind of transaction that its gas was charged as, which bounds its cost. Absent where no code of strangers runs, and in
   * items that an older release stored.
   */
  readonly costed?: CostedTransaction | undefined
  /** Receiver of a sweep that gives the money back; absent for one that makes a deposit. */
  readonly goesBackTo?: string | undefined
}

const addressTerms = z.object({ orderSigner: hex(20), sweeper: hex(20), depositor: hex(20), nonce: hex(32) })
/** The words of an order's EIP-712 struct that follow its type hash. */
export const orderWords = z.object({
  version: hex(32),
  solverChainId: hex(32),
  solver: hex(32),
  salt: hex(32),
  inputs: hex(32),
  output: hex(32),
  fees: hex(32),
})

/**
 * A swap of what lies at the address, before its deposit. `tokenIn` to `nonce` are a price: for `amountIn` at
 * least `amountOutMin`, for any other amount the same share. The order's salt has a part of their hash, so
 * the contract takes no other price. `amount` is swapped now, by `swapData`; neither is signed, as the price
 * holds whatever they are.
 */
const sweptSwap = z.object({
  tokenIn: hex(20),
  amountIn: amount,
  tokenOut: hex(20),
  amountOutMin: amount,
  nonce: hex(32),
  amount,
  swapData: calldata,
})

const sweepPayload = z.object({
  chainId: z.number().int().positive(),
  contract: hex(20),
  /** The native currency's zero address names no token; native coin is swept in any case. */
  currency: hex(20),
  deadline: z.number().int().nonnegative(),
  terms: addressTerms,
  order: orderWords,
  orderSignature: calldata,
  swap: sweptSwap.optional(),
  goesBack: z.boolean().optional(),
})

/** Payload of a sweep, as the one call that empties the address. */
const callSchema = sweepPayload.transform((payload): Relay => {
  const { chainId, contract, deadline } = payload
  const transaction = { to: contract, data: encodeSweep(payload), valueWei: 0n }
  const goesBackTo = payload.goesBack === true ? payload.terms.depositor : undefined
  return { kind: 'sweep', chainId, contract, through: 'depositAddresses', deadline, transaction, goesBackTo }
})

/** Unverified sweep of a deposit address that is a script, with the terms from which the script follows. */
export type ScriptSweep = z.output<typeof scriptSweepSchema>
const scriptSweepSchema = z
  .object({
    chainId: z.number().int().positive(),
    depositAddress: spelled,
    amount,
    deadline: z.number().int().nonnegative(),
    deposit: z.object({ orderId: hex(32) }),
    // Here the sweeper is a compressed public key.
    terms: z.object({ orderSigner: hex(20), sweeper: hex(33), depositor: spelled, nonce: hex(32) }),
    order: orderSchema,
    orderSignature: z.string(),
    goesBack: z.boolean().default(false),
  })
  .transform(({ deposit: { orderId }, ...sweep }) => ({ kind: 'sweep' as const, orderId, ...sweep }))

/** Sweep of a deposit address that a program derived, in the program's own terms. */
export type ProgramSweep = z.output<typeof programSweepSchema>
const programSweepSchema = z
  .object({
    chainId: z.number().int().positive(),
    contract: spelled,
    currency: spelled,
    depositAddress: spelled,
    deadline: z.number().int().nonnegative(),
    terms: z.object({ orderSigner: hex(20), sweeper: spelled, depositor: spelled, nonce: hex(32) }),
    order: orderWords,
    orderSignature: calldata,
    goesBack: z.boolean().default(false),
  })
  .transform(({ contract: program, ...sweep }) => ({ kind: 'program-sweep' as const, program, ...sweep }))

/**
 * Payload of any sweep, by the first of these forms that it fits: items of contracts name `contract` in 20
 * bytes, items of programs name it in their family's spelling, items of scripts name none.
 */
export const sweepSchema = z.union([callSchema, programSweepSchema, scriptSweepSchema])

function encodeSweep(payload: z.output<typeof sweepPayload>): Hex {
  const { terms, order, orderSignature, currency, swap, goesBack } = payload
  const abi = depositAddressesAbi
  if (goesBack === true) {
    return encodeFunctionData({ abi, functionName: 'withdraw', args: [terms, currency] })
  }
  if (swap === undefined) {
    const args = [terms, toStruct(order), orderSignature, currency] as const
    return encodeFunctionData({ abi, functionName: 'sweep', args })
  }
  const { amount: spent, swapData, amountOutMin: minAmountOut, ...rest } = swap
  const price = { ...rest, minAmountOut }
  const args = [terms, toStruct(order), orderSignature, price, spent, swapData] as const
  return encodeFunctionData({ abi, functionName: 'sweepAndSwap', args })
}

/** The words as the contract's struct types them. */
function toStruct({ solver, salt, ...words }: z.output<typeof orderWords>) {
  // The word of an address is its 20 bytes behind 12 zero bytes.
  return { ...words, solver: `0x${solver.slice(-40)}` as const, salt: BigInt(salt) }
}

/** Payload of a signed permit, as the one call that makes its deposit. */
const signedPermitSchema = z
  .object({
    orderId: hex(32),
    chainId: z.number().int().positive(),
    deadline: z.number().int().nonnegative(),
    permitRouter: hex(20),
    permitKind: z.enum(permitKinds),
    token: hex(20),
    owner: hex(20),
    amount,
    signature: calldata,
    /** Present with a signature for Permit2. */
    relayer: hex(20).optional(),
    calls: z.array(z.object({ to: hex(20), data: calldata, value: amount })).optional(),
  })
  .transform((payload, context): Relay => {
    const { chainId, deadline, permitRouter: router, permitKind, signature, relayer, calls } = payload
    const { orderId, token, owner } = payload
    const deposit = { token, owner, amount: payload.amount, deadlineSeconds: deadline, orderId }
    const shared = { kind: 'permit' as const, chainId, contract: router, deadline, signer: owner }
    if (permitKind !== 'permit2') {
      const data = encodeSignedDeposit(permitKind, deposit, signature)
      const costed = { kind: `permit-${permitKind}`, isNative: false } as const
      return { ...shared, through: 'permitRouter', transaction: { to: router, data, valueWei: 0n }, costed }
    }
    if (relayer === undefined || calls === undefined) {
      context.addIssue({ code: 'custom', path: ['relayer'], message: 'a permit2 needs relayer and calls' })
      return z.NEVER
    }
    const { data } = encodePermit(
      { ...deposit, kind: permitKind, chainId, router, relayer, calls },
      signature,
    )
    const transaction = { to: router, data, valueWei: 0n }
    const costed = { kind: 'permit-permit2-swap', isNative: false } as const
    return { ...shared, through: 'permit2Router', relayer, transaction, costed }
  })

const { execute: executeUnits } = gasUnits

/**
 * Payload of calls that a smart account signed. They come from the multicall, which owns nothing and may do
 * nothing: whatever they are, the wallet pays their gas and nothing else.
 */
const callsSchema = z
  .object({
    chainId: z.number().int().positive(),
    deadline: z.number().int().nonnegative(),
    permitKind: z.literal('calls'),
    multicall3: hex(20),
    to: hex(20),
    data: calldata,
    authorizationList: z.array(authorizationSchema).max(1),
    gasUnits: amount.optional(),
  })
  .transform(({ chainId, deadline, multicall3: contract, to, data, authorizationList, gasUnits }): Relay => {
    const transaction = {
      to: contract,
      data: encodeForwarded({ target: to, callData: data }),
      valueWei: 0n,
      ...(authorizationList.length > 0 && { authorizationList }),
    }
    // The kind `execute` has `executeUnits` in its cost: only units that were charged above them are named.
    const overheadUnits = gasUnits === undefined ? undefined : maxBigint(0n, gasUnits - executeUnits)
    const costed =
      overheadUnits === undefined ? undefined : ({ kind: 'execute', isNative: false, overheadUnits } as const)
    return {
      kind: 'permit',
      chainId,
      contract,
      through: 'multicall3',
      signer: to,
      deadline,
      transaction,
      costed,
    }
  })

export const permitSchema = z.discriminatedUnion('permitKind', [signedPermitSchema, callsSchema])
