// A Tron of stand-ins: contracts, ids, signatures and expiry are real.

import { connectQuotingChain, payingFamily } from '@causeway/chains'
import { type Hex, Secret } from '@causeway/core'
import { createTronCodec, tronAddress, tronHexAddress } from '@causeway/core/encodings'
import type { PayingChain, ReadableChain } from '@causeway/families'
import { TronFees, usualTokenEnergy } from '@causeway/families/rules'
import { type ChainBed, chainBedOn, type TestNetwork } from '@causeway/localnet'
import type { FaultyService } from '@causeway/localnet/standIns/http'
import { createTronLedger, startTronFacade } from '@causeway/localnet/standIns/tron'
import type { ChainClient } from '@causeway/rpc'
import { expiringProcesses, type PayerBench } from './payerBench.ts'
import { openSolverDatabases } from './solverDatabases.ts'

export const tronChainId = 728_126_428
const walletKey: Hex = `0x${'5e'.repeat(32)}`
export const tronFees = new TronFees({
  sunPerEnergy: 100n,
  sunPerByte: 1_000n,
  tokenEnergy: usualTokenEnergy,
})
export const tronCeiling = 500n
/** TRX of the wallet. */
const coins = 10n ** 12n

export type TronBench = Omit<PayerBench, 'process'> & {
  readonly evm: ChainBed
  readonly facades: readonly FaultyService[]
  readonly usdc: string
  readonly process: ReturnType<typeof expiringProcesses>
  /** Another process with the same key, which remembers nothing. */
  open(): PayingChain
  /** Has one node answer in another way where the path ends so. */
  lie(answers: Readonly<Record<string, (body: object) => unknown>>): void
}

const word = (value: number): string => value.toString(16).padStart(64, '0')

/** A node's block at another time. */
function withTime(body: object, timestamp: number): unknown {
  const { block_header: header = {} } = body as { block_header?: { raw_data?: object } } // CAST: a stand-in's own body
  return { ...body, block_header: { ...header, raw_data: { ...header.raw_data, timestamp } } }
}

/** @param network whose node of Base it takes; its owner stops it */
export async function startTronBench(
  network: TestNetwork,
  databases = openSolverDatabases(),
): Promise<TronBench> {
  const evm = chainBedOn(network, 'tron')
  const { fillContract } = evm.deployment
  const ledger = createTronLedger(evm)
  const options = { chainId: BigInt(tronChainId) }
  const facades = await Promise.all([1, 2, 3].map(() => startTronFacade(evm, ledger, options)))
  const chain: ReadableChain = {
    id: 'tron',
    vmType: 'tron-vm',
    network: undefined,
    hubChainId: `${tronChainId}`,
    ready: true,
    rpcThreshold: 2,
    unsetVariables: [],
    additionalData: {},
    finality: { mode: 'tag' },
    depository: tronAddress(evm.deployment.depository),
    fillContracts: [tronAddress(fillContract)],
    endpoints: facades.map(({ url }) => new Secret(url)),
  }
  const client: ChainClient | undefined = connectQuotingChain(chain)
  if (client === undefined) throw new Error('the chain is quoted')
  const open = (): PayingChain => {
    const paying = payingFamily(chain)?.open({ client, key: new Secret(walletKey), fillContract })
    if (paying === undefined) throw new Error('the family pays')
    return paying
  }
  const wallet = open().address
  await evm.node('anvil_setBalance', [tronHexAddress(wallet), `0x${coins.toString(16)}`])
  const nowSeconds = async () =>
    Number(Object(await evm.node('eth_getBlockByNumber', ['latest', false])).timestamp)
  const lie: TronBench['lie'] = (answers) =>
    facades[0]?.set({
      kind: 'lie',
      rewrite(path, body) {
        const rewrite = Object.entries(answers).find(([end]) => path.endsWith(end))?.[1]
        return rewrite === undefined ? body : rewrite(Object(body))
      },
    })
  const state = (value: number) => (body: object) => ({ ...body, constant_result: [word(value)] })
  let accounts = 0
  return {
    evm,
    facades,
    chain,
    wallet,
    nowSeconds,
    open,
    lie,
    fillContract,
    chainId: tronChainId,
    coin: createTronCodec().nativeCurrency,
    usdc: tronAddress(evm.deployment.tokens.USDC),
    database: databases.database,
    process: expiringProcesses({
      chainId: tronChainId,
      landsWithinSeconds: 75,
      fees: tronFees,
      ceiling: tronCeiling,
      open,
      gasPerHour: 10n ** 12n,
      async expire() {
        await evm.node('evm_increaseTime', [120])
        await evm.mine(4)
      },
    }),
    held: async (address) =>
      BigInt(String(await evm.node('eth_getBalance', [tronHexAddress(address), 'latest']))),
    account() {
      accounts += 1
      return tronAddress(`0x${(0xacc0000 + accounts).toString(16).padStart(40, '0')}`)
    },
    async hold() {},
    async mine() {},
    settle: () => evm.mine(3),
    async land(raw) {
      const body = JSON.stringify({ transaction: raw.slice(2) })
      await fetch(`${facades[0]?.url}/wallet/broadcasthex`, { method: 'POST', body })
    },
    faults: {
      hide: async () => lie({ triggerconstantcontract: state(0), gettransactioninfobyid: () => ({}) }),
      invent: async ({ hash }, made) =>
        lie({
          triggerconstantcontract: state(made === 'paid' ? 1 : 2),
          gettransactioninfobyid: () => ({ id: hash, blockNumber: 5, blockTimeStamp: 1_790_000_000_000 }),
        }),
      hasten: async () => lie({ getblock: (body) => withTime(body, Date.now() + 10 ** 12) }),
      async silence(count) {
        for (const facade of facades.slice(0, count)) facade.set({ kind: 'http', status: 503 })
      },
      async garble(id) {
        const asked = stateParameter(wallet, id)
        const isAbout = ({ text }: { readonly text: string }) => text.includes(asked)
        for (const facade of facades) facade.set({ kind: 'lie', isAbout, rewrite: () => 'nonsense' })
      },
      async heal() {
        for (const facade of facades) facade.set({ kind: 'none' })
      },
    },
    async stop() {
      await Promise.all([client.close(), ...facades.map((facade) => facade.stop()), databases.stop()])
    },
  }
}

/** Parameter of `stateOf`, as nodes take it. */
const stateParameter = (wallet: string, id: Hex): string =>
  `${tronHexAddress(wallet).slice(2).padStart(64, '0')}${id.slice(2)}`
