// A chain whose transactions have nonces, over a real node that makes blocks when it is told to.

import { contractPayingFamily, openFamilyChain } from '@causeway/chains'
import { type Hex, Secret } from '@causeway/core'
import { ethereumCodec } from '@causeway/core/encodings'
import type { ReadableChain } from '@causeway/families'
import { EthereumFees, type GasShape, gasUnits } from '@causeway/families/rules'
import { chainBedOn, type FaultMode, startFaultProxy, type TestNetwork } from '@causeway/localnet'
import { createJsonRpcClient } from '@causeway/rpc'
import { createRawKeySigner } from '@causeway/signer'
import { toFunctionSelector } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { createContractRecord } from '../../src/facts/paymentRecord.ts'
import { NonceStrategy } from '../../src/wallet/nonceStrategy.ts'
import { openProcess, type PayerBench, type PayerProcess, type ProcessOptions } from './payerBench.ts'
import { openSolverDatabases } from './solverDatabases.ts'

const bumpAfterMs = 60_000
const gwei = 10n ** 9n
const years = 10n ** 9n
const stateOf = toFunctionSelector('stateOf(address,bytes32)').slice(2)
const word = (value: number): Hex => `0x${value.toString(16).padStart(64, '0')}`

/** Has the node of Optimism make no block by itself. @param network its owner stops it */
export async function startNonceBench(
  network: TestNetwork,
  databases = openSolverDatabases(),
): Promise<PayerBench> {
  const bed = chainBedOn(network, 'optimism')
  const { client: viem, chainId } = bed.chain
  const { depository, fillContract } = bed.deployment
  await bed.chain.node.setAutomine(false)
  const proxies = await Promise.all([1, 2, 3].map(() => startFaultProxy({ targetUrl: bed.url })))
  const chain: ReadableChain = {
    id: 'optimism',
    vmType: 'ethereum-vm',
    network: undefined,
    hubChainId: String(chainId),
    additionalData: {},
    depository,
    ready: true,
    rpcThreshold: 2,
    unsetVariables: [],
    fillContracts: [fillContract],
    finality: { mode: 'depth-and-time', blocks: 2, seconds: 0 },
    endpoints: proxies.map(({ url }) => new Secret(url)),
  }
  const set = async (mode: FaultMode, count = 1) => {
    await Promise.all(proxies.slice(0, count).map((proxy) => proxy.set(mode)))
  }
  const say = (answers: Readonly<Record<string, (result: unknown, params: string) => unknown>>) =>
    set({
      kind: 'lie',
      rewrite: ({ method, params }, result) => {
        const rewrite = answers[method]
        return rewrite === undefined ? result : rewrite(result, JSON.stringify(params))
      },
    })
  /** Answers of the fill contract about payments. */
  const state = (value: number) => (result: unknown, asked: string) =>
    asked.includes(stateOf) ? word(value) : result
  return {
    chain,
    chainId,
    fillContract,
    coin: ethereumCodec.nativeCurrency,
    wallet: network.keys.fillWallet.address.toLowerCase(),
    database: databases.database,
    process: (connectionString, options = {}) =>
      openNonces({ chain, chainId, fillContract, bed }, connectionString, options),
    account: () => privateKeyToAddress(generatePrivateKey()).toLowerCase(),
    held: async (account) => BigInt(String(await bed.node('eth_getBalance', [account, 'latest']))),
    nowSeconds: async () => Number((await viem.getBlock()).timestamp),
    async hold() {},
    mine: () => bed.mine(1),
    settle: () => bed.mine(3),
    async land(raw) {
      await bed.node('eth_sendRawTransaction', [raw]).catch(() => undefined)
    },
    faults: {
      hide: () =>
        say({
          eth_call: state(0),
          eth_getTransactionReceipt: () => null,
          eth_getTransactionCount: () => '0x0',
        }),
      invent: ({ hash }, made) =>
        say({
          eth_call: state(made === 'paid' ? 1 : 2),
          eth_getTransactionReceipt: () => ({
            transactionHash: hash,
            status: '0x1',
            blockNumber: '0x1',
            blockHash: word(1),
            gasUsed: '0x1',
            effectiveGasPrice: '0x1',
          }),
        }),
      hasten: () =>
        say({
          eth_getBlockByNumber: (block) => {
            const { timestamp, ...rest } = Object(block)
            return { ...rest, timestamp: `0x${(BigInt(timestamp) + years).toString(16)}` }
          },
        }),
      silence: (count) => set({ kind: 'refuse' }, count),
      heal: () => set({ kind: 'pass' }, 3),
    },
    async stop() {
      await Promise.all([...proxies.map((proxy) => proxy.stop()), databases.stop()])
    },
  }
}

type NonceChain = {
  readonly chain: ReadableChain
  readonly chainId: number
  readonly fillContract: Hex
  readonly bed: ReturnType<typeof chainBedOn>
}

async function openNonces(
  { chain, chainId, fillContract, bed }: NonceChain,
  connectionString: string,
  options: ProcessOptions,
): Promise<PayerProcess> {
  let aheadMs = 0
  const nowMs = () => Date.now() + aheadMs
  const endpoints = chain.endpoints.map((url) => ({ url }))
  const client = createJsonRpcClient({ chainId: chain.id, endpoints, threshold: 2, now: nowMs })
  const family = openFamilyChain(chain, { finalEntriesMax: 0, isKnownCode: () => true })
  const { finalBlocks } = family.reader
  if (finalBlocks === undefined) throw new Error('the chain has final blocks')
  const signer = createRawKeySigner({ privateKey: new Secret(bed.network.keys.fillWallet.privateKey) })
  const paying = contractPayingFamily(chain)?.open({
    chainId,
    client,
    finalBlocks,
    signer,
    fillContract,
    nowMs,
    listedFillContracts: [fillContract],
    recordsPayments: () => true,
  })
  if (paying === undefined) throw new Error('the chain is paid on by its fill contract')
  const { address } = paying
  const { ceiling: maxFeePerGasWei = 100n * gwei } = options
  const place = {
    chainId,
    address,
    gasPerHour: 10n ** 20n,
    strategyOf: (records: ConstructorParameters<typeof NonceStrategy>[0]['records']) =>
      new NonceStrategy({
        paying,
        fillContract,
        records,
        nowMs,
        marketFees: () => fees,
        rules: { bumpAfterMs, maxFeePerGasWei, transactionGasMax: 2_000_000n },
      }),
    close: () => Promise.all([client.close(), family.close()]),
  }
  return {
    ...(await openProcess(connectionString, place, options)),
    record: createContractRecord(paying),
    async age() {
      aheadMs += bumpAfterMs
      await bed.node('evm_increaseTime', [61])
      await bed.mine(1)
    },
  }
}

const none = Object.fromEntries(Object.keys(gasUnits).map((shape) => [shape, 0n]))
const fees = new EthereumFees({
  gasPrice: { expectedWei: gwei, maxFeePerGasWei: 4n * gwei, maxPriorityFeePerGasWei: gwei },
  // CAST: filled from the closed list of shapes.
  gasUnits,
  l1DataFeeWei: none as Record<GasShape, bigint>,
})
