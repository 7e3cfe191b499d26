import type { Hex } from '@causeway/core'
import type { LocalAccount } from '../../keys/localKeys.ts'
import type { LocalChain } from '../../nodes/localChain.ts'
import { createTronKnowledge, type KnownTransaction, type TronKnowledge } from './knowledge.ts'
import { readTrace } from './readTrace.ts'
import { encodeTransaction, type SubmittedContract } from './transactions.ts'

/** The EVM node that runs the transactions which the facade shows. */
export type EvmBackend = {
  readonly chain: LocalChain
  /** Sends one transaction and waits for its block. */
  send(from: LocalAccount, to: Hex, data?: Hex, value?: bigint): Promise<{ readonly transactionId: Hex }>
  mine(blocks?: number): Promise<void>
  /** A call that viem has no name for. */
  node(method: string, params: readonly unknown[]): Promise<unknown>
}

/** A transaction that was run: its id on Tron and its hash on the EVM node. */
export type Submitted = { readonly transactionId: string; readonly evmHash: Hex }

/** Knowledge of a chain's facades, and a way to run transactions without a signature on Tron. */
export type TronLedger = TronKnowledge & {
  /** Runs the transaction on the chain and waits for its block. */
  submit(from: LocalAccount, contract: SubmittedContract, memo?: Hex): Promise<Submitted>
  /** Runs several in one block, each from an account of its own. */
  submitTogether(
    transactions: readonly { readonly from: LocalAccount; readonly contract: SubmittedContract }[],
  ): Promise<readonly Submitted[]>
}

/**
 * @param known transactions of another run of this chain, by id; new ones are added
 * @param timeOf creation time of the next transaction, Unix milliseconds; default: a new time for each
 */
export function createTronLedger(
  evm: EvmBackend,
  known: Map<string, KnownTransaction> = new Map(),
  timeOf: () => number | undefined = () => undefined,
): TronLedger {
  const addRun = (
    { from, contract, memo }: { from: LocalAccount; contract: SubmittedContract; memo?: Hex | undefined },
    run: Pick<KnownTransaction, 'evmHash' | 'trace'>,
  ): Submitted => {
    const { transactionId, rawHex } = encodeTransaction(from.address, contract, memo, timeOf())
    known.set(transactionId, { ...run, rawHex, isContractCall: contract.kind === 'trigger' })
    return { transactionId, evmHash: run.evmHash }
  }
  return {
    ...createTronKnowledge(known),
    async submit(from, contract, memo) {
      const { to, data, value } = evmCall(contract)
      const { transactionId: evmHash } = await evm.send(from, to, data, value)
      return addRun({ from, contract, memo }, { evmHash, trace: await readTrace(evm, evmHash) })
    },
    async submitTogether(transactions) {
      await evm.node('evm_setAutomine', [false])
      const submitted: Submitted[] = []
      for (const { from, contract } of transactions) {
        const evmHash = await evm.chain.as(from).walletClient.sendTransaction(evmCall(contract))
        submitted.push(addRun({ from, contract }, { evmHash }))
      }
      await evm.node('evm_setAutomine', [true])
      await evm.mine(1)
      return submitted
    },
  }
}

/** The EVM transaction that runs it. A transfer of a TRC-10 token moves nothing on the EVM. */
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
