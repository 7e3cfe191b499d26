// Solver processes of one chain whose transactions have nonces, over a real node that makes blocks when it is told to.

import { contractPayingFamily, openFamilyChain } from '@causeway/chains'
import { Secret } from '@causeway/core'
import type { RegisteredChain } from '@causeway/families'
import { EthereumFees, type GasShape, gasUnits } from '@causeway/families/rules'
import { type TestNetwork, waitUntil } from '@causeway/localnet'
import { createJsonRpcClient } from '@causeway/rpc'
import { createRawKeySigner } from '@causeway/signer'
import type { ChainDesk } from '../../src/wallet/chainDesk.ts'
import { NonceStrategy } from '../../src/wallet/nonceStrategy.ts'
import { PaymentDesk } from '../../src/wallet/paymentDesk.ts'
import { createRecords, type Records } from '../../src/wallet/records.ts'
import { connectProcess } from './solverDatabases.ts'

const bumpAfterMs = 60_000
const gwei = 10n ** 9n

export type NonceProcess = {
  readonly desk: ChainDesk
  readonly records: Records
  /** Makes its transactions old enough for a higher price. */
  wait(): void
  kill(): Promise<void>
}

/** Has the node of Base make no block by itself. */
export async function openNonceBench(network: TestNetwork) {
  const { chain, url } = network.chains.base
  const { chainId, depository, fillContract } = network.deployment.base
  await chain.node.setAutomine(false)
  const registered: RegisteredChain & { readonly depository: string } = {
    ...{ id: 'base', vmType: 'ethereum-vm', network: undefined, hubChainId: String(chainId) },
    ...{ additionalData: {}, depository, ready: true, rpcThreshold: 1, unsetVariables: [] },
    finality: { mode: 'depth-and-time', blocks: 2, seconds: 0 },
    endpoints: [new Secret(url)],
  }
  const none = Object.fromEntries(Object.keys(gasUnits).map((shape) => [shape, 0n]))
  const fees = new EthereumFees({
    gasPrice: { expectedWei: gwei, maxFeePerGasWei: 4n * gwei, maxPriorityFeePerGasWei: gwei },
    // CAST: filled from the closed list of shapes.
    ...{ gasUnits, l1DataFeeWei: none as Record<GasShape, bigint> },
  })
  return {
    ...{ chainId, fillContract },
    async process(
      connectionString: string,
      through: (records: Records) => Records = (one) => one,
    ): Promise<NonceProcess> {
      let aheadMs = 0
      const nowMs = () => Date.now() + aheadMs
      const client = createJsonRpcClient({ chainId: 'base', endpoints: [{ url }], threshold: 1, now: nowMs })
      const family = openFamilyChain(registered, { finalEntriesMax: 0, isKnownCode: () => true })
      const { finalBlocks } = family.reader
      if (finalBlocks === undefined) throw new Error('the chain has final blocks')
      const signer = createRawKeySigner({ privateKey: new Secret(network.keys.fillWallet.privateKey) })
      const paying = contractPayingFamily(registered)?.open({
        ...{ chainId, client, finalBlocks, signer, fillContract, nowMs },
        ...{ listedFillContracts: [fillContract], recordsPayments: () => true },
      })
      if (paying === undefined) throw new Error('the chain is paid on by its fill contract')
      const job = `fill-wallet:${paying.address}:${chainId}`
      const { database, leadership, kill } = connectProcess(connectionString, job, () =>
        Promise.all([client.close(), family.close()]),
      )
      const records = through(createRecords(database))
      const strategy = new NonceStrategy({
        ...{ paying, fillContract, records, nowMs, marketFees: () => fees },
        rules: { bumpAfterMs, maxFeePerGasWei: 100n * gwei, transactionGasMax: 2_000_000n },
      })
      const perHour = 10n ** 20n
      const rules = { gasPerHourWei: perHour, refundGasPerHourWei: perHour, relayGasPerHourWei: perHour }
      const desk = new PaymentDesk(strategy, { records, leadership, rules, log: () => undefined })
      await waitUntil('the lease is won', () => desk.leads())
      return {
        ...{ desk, records, kill },
        wait() {
          aheadMs += bumpAfterMs
        },
      }
    },
  }
}
