import type { Hex } from '@causeway/core'
import type { LocalAccount } from '../../keys/localKeys.ts'
import type { LocalChain } from '../../nodes/localChain.ts'
import { createTronKnowledge, type KnownTransaction, type TronKnowledge } from './knowledge.ts'
import { readTrace } from './readTrace.ts'
import { encodeTransaction, type SubmittedContract } from './transactions.ts'

/** The EVM node that runs what the facade renders. */
export type EvmBehind = {
  readonly chain: LocalChain
  /** Sends one transaction and waits for its block. */
  send(from: LocalAccount, to: Hex, data?: Hex, value?: bigint): Promise<{ readonly transactionId: Hex }>
  mine(blocks?: number): Promise<void>
  /** A call that viem has no name for. */
  node(method: string, params: readonly unknown[]): Promise<unknown>
}

export type Submitted = { readonly transactionId: string; readonly evmHash: Hex }

/** State of a chain's facades, and a way to run transactions without a signature. */
export type TronLedger = TronKnowledge & {
  /** Runs the transaction on the chain and waits for its block. */
  submit(from: LocalAccount, contract: SubmittedContract, memo?: Hex): Promise<Submitted>
  /** Several in one block, each from an account of its own. */
  submitTogether(
    transactions: readonly { readonly from: LocalAccount; readonly contract: SubmittedContract }[],
  ): Promise<readonly Submitted[]>
}

/**
 * @param known transactions of another run of this chain, by id; new ones are added
 * @param timeOf Unix milliseconds that the next transaction was created at; default: a new time for each
 */
export function createTronLedger(
  bed: EvmBehind,
  known: Map<string, KnownTransaction> = new Map(),
  timeOf: () => number | undefined = () => undefined,
): TronLedger {
  const note = (
    { from, contract, memo }: { from: LocalAccount; contract: SubmittedContract; memo?: Hex | undefined },
    ran: Pick<KnownTransaction, 'evmHash' | 'trace'>,
  ): Submitted => {
    const { transactionId, rawHex } = encodeTransaction(from.address, contract, memo, timeOf())
    known.set(transactionId, { ...ran, rawHex, isContractCall: contract.kind === 'trigger' })
    return { transactionId, evmHash: ran.evmHash }
  }
  return {
    ...createTronKnowledge(known),
    async submit(from, contract, memo) {
      const { to, data, value } = evmCall(contract)
      const { transactionId: evmHash } = await bed.send(from, to, data, value)
      return note({ from, contract, memo }, { evmHash, trace: await readTrace(bed, evmHash) })
    },
    async submitTogether(transactions) {
      await bed.node('evm_setAutomine', [false])
      const submitted: Submitted[] = []
      for (const { from, contract } of transactions) {
        const evmHash = await bed.chain.as(from).walletClient.sendTransaction(evmCall(contract))
        submitted.push(note({ from, contract }, { evmHash }))
      }
      await bed.node('evm_setAutomine', [true])
      await bed.mine(1)
      return submitted
    },
  }
}

/** A TRC-10 token moves no coin on the EVM. */
function evmCall(contract: SubmittedContract): {
  readonly to: Hex
  readonly data: Hex
  readonly value: bigint
} {
  if (contract.kind === 'trigger') {
    return { to: contract.to, data: contract.data, value: contract.callValue ?? 0n }
  }
  return { to: contract.to, data: '0x', value: contract.kind === 'transfer' ? contract.amount : 0n }
}
