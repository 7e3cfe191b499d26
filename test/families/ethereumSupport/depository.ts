import type { DepositoryNetwork, ReaderChange } from '../../readerSupport/depository/depositoryNetwork.ts'
import { readerOf, startChainBed } from './chainBed.ts'

/** A chain of `ethereum-vm` with the depository. */
export async function startEthereumDepository(): Promise<DepositoryNetwork> {
  const evm = await startChainBed()
  const [user] = evm.network.keys.users
  if (user === undefined) throw new Error('no user')
  const send: DepositoryNetwork['send'] = async (to, data, value, from = user) => {
    const { transactionId } = await evm.send(from, to, data, value)
    return { transactionId, evmHash: transactionId }
  }
  return {
    evm,
    user,
    spell: (address) => address.toLowerCase(),
    respell: (transactionId) => `0x${transactionId.slice(2).toUpperCase()}`,
    unknownId: `0x${'77'.repeat(32)}`,
    readsNestedCalls: true,
    tellsCalls: true,
    send,
    sendCoin: (to, value) => send(to, '0x', value),
    readerOf: (change: ReaderChange = {}) => readerOf(evm, change).reader,
    stop: () => evm.stop(),
  }
}
