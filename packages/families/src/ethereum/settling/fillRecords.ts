import type { Hex } from '@causeway/core'
import { toQuantity } from '@causeway/rpc'
import type { SettlingChain, SettlingChainFamily } from '../../shared/settlingChain.ts'
import type { Reading } from './chainReadings.ts'
import { blockTimeReading } from './depositReadings.ts'
import { codeReading, paidIdsReading, paidReading, stateReading } from './transactionReading.ts'

/** Makes a reading by a quorum of the chain's endpoints. */
export type Ask = <Value>(reading: Reading<Value>, signal: AbortSignal) => Promise<Value>

/** Reader of a payment id's state in a fill contract, at the newest final block. */
export function readMarks(
  ask: Ask,
  finalHeight: SettlingChain['finalHeight'],
  fillContract: Hex,
): Pick<SettlingChain, 'finalMark'> {
  return {
    async finalMark(payer, id, signal) {
      const height = await finalHeight(signal)
      const recordQuery = { fillContract: payer.fillContract ?? fillContract, fillWallet: payer.address, id }
      const [state, timestampSeconds] = await Promise.all([
        ask(stateReading(recordQuery, toQuantity(height)), signal),
        ask(blockTimeReading(height), signal),
      ])
      return { state, timestampSeconds }
    },
  }
}

/** Readers of the fill wallet's payments, as the fill contracts of a chain have recorded them. */
export function readPayments(
  ask: Ask,
  payerContracts: {
    readonly fillWallet: string
    readonly fillContract: Hex
    readonly fillContracts: readonly string[] | undefined
    readonly recordsPayments: Parameters<SettlingChainFamily>[0]['recordsPayments']
  },
): Pick<SettlingChain, 'isPaid' | 'paidIds'> {
  const { fillWallet, fillContract, fillContracts = [], recordsPayments = () => false } = payerContracts
  return {
    async isPaid(id, signal, contract = fillContract) {
      // Another contract, of an earlier release, may have no state to read.
      if (contract !== fillContract && !recordsPayments(await ask(codeReading(contract), signal)))
        return false
      return ask(paidReading({ fillContract: contract, fillWallet, id }), signal)
    },
    paidIds: (range, signal) =>
      ask(
        paidIdsReading({ contracts: [...new Set([fillContract, ...fillContracts])], fillWallet, ...range }),
        signal,
      ),
  }
}
