// A Tron of stand-ins behind one endpoint that faults are put into: contracts, ids, signatures and expiry are real.

import { connectQuotingChain, payingFamily } from '@causeway/chains'
import { type Hex, Secret } from '@causeway/core'
import { createTronCodec, tronAddress, tronHexAddress } from '@causeway/core/encodings'
import type { PayingChain, RegisteredChain } from '@causeway/families'
import { TronFees, usualTokenEnergy } from '@causeway/families/rules'
import { type ChainBed, chainBedOn, startTestNetwork } from '@causeway/localnet'
import type { FaultyService } from '@causeway/localnet/standIns/http'
import { createTronLedger, startTronFacade } from '@causeway/localnet/standIns/tron'
import type { ChainClient } from '@causeway/rpc'
import type { ExpiringBench } from './expiringKills.ts'
import { type Processes, startProcesses } from './expiringProcess.ts'

export const tronChainId = 728_126_428
const walletKey: Hex = `0x${'5e'.repeat(32)}`
export const tronFees = new TronFees({
  ...{ sunPerEnergy: 100n, sunPerByte: 1_000n, tokenEnergy: usualTokenEnergy },
})
const ceiling = 500n
/** TRX of the wallet. */
const coins = 10n ** 12n

export type TronBench = Omit<ExpiringBench, 'process'> & {
  readonly evm: ChainBed
  readonly facade: FaultyService
  readonly usdc: string
  readonly process: Processes['process']
  open(): PayingChain
  stop(): Promise<void>
}

export async function startTronBench(): Promise<TronBench> {
  const network = await startTestNetwork()
  const evm = chainBedOn(network, 'tron')
  const facade = await startTronFacade(evm, createTronLedger(evm), { chainId: BigInt(tronChainId) })
  const chain: RegisteredChain = {
    ...{
      id: 'tron',
      vmType: 'tron-vm',
      network: undefined,
      hubChainId: `${tronChainId}`,
      additionalData: {},
    },
    ...{ ready: true, rpcThreshold: 1, unsetVariables: [] },
    ...{ depository: tronAddress(evm.deployment.depository), endpoints: [new Secret(facade.url)] },
  }
  const client: ChainClient | undefined = connectQuotingChain(chain)
  if (client === undefined) throw new Error('the chain is quoted')
  const open = (): PayingChain => {
    const { fillContract } = evm.deployment
    const paying = payingFamily(chain)?.open({ client, key: new Secret(walletKey), fillContract })
    if (paying === undefined) throw new Error('the family pays')
    return paying
  }
  const wallet = open().address
  await evm.node('anvil_setBalance', [tronHexAddress(wallet), `0x${coins.toString(16)}`])
  const processes = await startProcesses({
    ...{
      chainId: tronChainId,
      landsWithinSeconds: 75,
      fees: tronFees,
      ceiling,
      gasPerHour: 10n ** 12n,
      open,
    },
  })
  let accounts = 0
  const nowSeconds = async () =>
    Number(Object(await evm.node('eth_getBlockByNumber', ['latest', false])).timestamp)
  return {
    ...{ evm, facade, wallet, nowSeconds, open, chainId: tronChainId, bid: { fees: tronFees, ceiling } },
    ...{ coin: createTronCodec().nativeCurrency, usdc: tronAddress(evm.deployment.tokens.USDC) },
    ...{ database: processes.database, process: processes.process },
    held: async (address) =>
      BigInt(String(await evm.node('eth_getBalance', [tronHexAddress(address), 'latest']))),
    account() {
      accounts += 1
      return tronAddress(`0x${(0xacc0000 + accounts).toString(16).padStart(40, '0')}`)
    },
    showsFailures: true,
    settle: () => evm.mine(3),
    async expire() {
      await evm.node('evm_increaseTime', [120])
      await evm.mine(4)
    },
    async land(raw) {
      const body = JSON.stringify({ transaction: raw.slice(2) })
      await fetch(`${facade.url}/wallet/broadcasthex`, { method: 'POST', body })
    },
    cutOff: async (isCutOff) => facade.set(isCutOff ? { kind: 'http', status: 503 } : { kind: 'none' }),
    async garble(id) {
      if (id === undefined) return facade.set({ kind: 'none' })
      const state = stateParameter(wallet, id)
      facade.set({
        kind: 'lie',
        isAbout: ({ text }) => text.includes(state),
        rewrite: () => 'nonsense',
      })
    },
    async stop() {
      await client.close()
      await Promise.all([facade.stop(), processes.stop()])
      await evm.stop()
    },
  }
}

/** Parameter of `stateOf`, as nodes take it. */
const stateParameter = (wallet: string, id: Hex): string =>
  `${tronHexAddress(wallet).slice(2).padStart(64, '0')}${id.slice(2)}`
