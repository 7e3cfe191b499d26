import { tronAddress } from '@causeway/core/encodings'
import type { DepositoryNetwork } from '../../readerSupport/depository/depositoryNetwork.ts'
import { readerOf, startTronBed } from './tronBed.ts'

/** A Tron network with the depository: ids of transactions are made by tronweb, addresses are base58. */
export async function startTronDepository(): Promise<DepositoryNetwork> {
  const bed = await startTronBed()
  const { evm, ledger, user } = bed
  return {
    evm,
    user,
    spell: (address) => tronAddress(address),
    respell: (transactionId) => `0x${transactionId}`,
    unknownId: '77'.repeat(32),
    readsNestedCalls: false,
    tellsCalls: false,
    send: (to, data, callValue = 0n, from = user) =>
      ledger.submit(from, { kind: 'trigger', to, data, callValue }),
    sendCoin: (to, amount) => ledger.submit(user, { kind: 'transfer', to, amount }),
    readerOf({ depository, fillContracts, fillPayers, ...change } = {}) {
      const spelled = {
        ...(depository !== undefined && { depository: tronAddress(depository) }),
        ...(fillContracts !== undefined && { fillContracts: fillContracts.map((each) => tronAddress(each)) }),
        ...(fillPayers !== undefined && { fillPayers: fillPayers.map((each) => tronAddress(each)) }),
      }
      return readerOf(bed, { ...change, ...spelled }).reader
    },
    stop: () => bed.stop(),
  }
}
