import type { Hex } from '@causeway/core'
import { toQuantity } from '@causeway/rpc'
import type { SettlingChain, SettlingChainFamily } from '../../shared/settlingChain.ts'
import type { Reading } from './chainReadings.ts'
import { blockTimeReading } from './depositReadings.ts'
import { codeReading, paidIdsReading, paidReading, stateReading } from './transactionReading.ts'

/** Makes a reading by a quorum of the chain's endpoints. */
export type Ask = <Value>(reading: Reading<Value>, signal: AbortSignal) => Promise<Value>

type RecordOptions = Pick<Parameters<SettlingChainFamily>[0], 'payer' | 'recordsPayments'> & {
  readonly finalHeight: SettlingChain['finalHeight']
  /** The chain's own fill contract. */
  readonly fillContract: Hex
  /** Those that the chains file lists. */
  readonly fillContracts: readonly string[] | undefined
}

/** Readers of the payments that fill contracts of a chain have recorded. */
export function createRecordReaders(
  ask: Ask,
  options: RecordOptions,
): Pick<SettlingChain, 'finalMark' | 'isPaid' | 'paidIds'> {
  const { payer, finalHeight, fillContract } = options
  return {
    async finalMark({ address: fillWallet, fillContract: contract = fillContract }, id, signal) {
      const height = await finalHeight(signal)
      const [state, timestampSeconds] = await Promise.all([
        ask(stateReading({ fillContract: contract, fillWallet, id }, toQuantity(height)), signal),
        ask(blockTimeReading(height), signal),
      ])
      return { state, timestampSeconds }
    },
    ...(payer !== undefined && createWalletReaders(ask, payer.address, options)),
  }
}

/** Readers of one fill wallet's payments. */
function createWalletReaders(
  ask: Ask,
  fillWallet: string,
  { fillContract, fillContracts = [], recordsPayments = () => false }: RecordOptions,
): Pick<SettlingChain, 'isPaid' | 'paidIds'> {
  const contracts = [...new Set([fillContract, ...fillContracts])]
  return {
    async isPaid(id, signal, contract = fillContract) {
      // Another contract, of an earlier release, may have no state to read.
      if (contract !== fillContract && !recordsPayments(await ask(codeReading(contract), signal)))
        return false
      return ask(paidReading({ fillContract: contract, fillWallet, id }), signal)
    },
    paidIds: (range, signal) => ask(paidIdsReading({ contracts, fillWallet, ...range }), signal),
  }
}
