// P14: the oracle as its image runs it, until it is ready, and what it holds in memory before and after load.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  familyKeys,
  familyVariables,
  freeLoopbackPort,
  localChainIds,
  startFamilies,
  type TestNetwork,
} from '@causeway/localnet'
import { load } from './load.ts'
import {
  depositsPath,
  fillBodies,
  fillsPath,
  keyed,
  oracleEnvironment,
  startOracleNetwork,
} from './oracleNetwork.ts'
import { serviceScripts } from './process.ts'
import type { BenchRow } from './row.ts'
import { measureStarts, type Started, startRow, startService } from './serviceStart.ts'

const goals = {
  one: { readyMs: 900, idleMiB: 140, loadedMiB: 320 },
  six: { readyMs: 1_500, idleMiB: 210 },
}

/** @throws Error when the oracle ends before it is ready, or a request fails */
export async function benchStart(): Promise<readonly BenchRow[]> {
  const { network, deposits, orders } = await startOracleNetwork({ deposits: 500, orders: 50 })
  const directory = await mkdtemp(join(tmpdir(), 'causeway-bench-'))
  try {
    const one = await measureStarts(
      () => startOracle(network, {}),
      async (oracle) => {
        const fills = await fillBodies(oracle.url, orders)
        const common = { url: oracle.url, connections: 32, headers: keyed }
        await load({ ...common, path: depositsPath, bodies: deposits, seconds: 40 })
        await load({ ...common, path: fillsPath, bodies: fills, seconds: 20 })
      },
    )
    const six = await withFamilies(network, (variables) =>
      measureStarts(() => startOracle(network, variables)),
    )
    const what = 'memory after a minute of cold deposits and fills, MiB'
    return [
      startRow('P14', 'spawn to ready with one family, ms', one.readyMs, goals.one.readyMs, one.spent),
      startRow('P14-idle', 'resident memory idle, one family, MiB', one.idleMiB, goals.one.idleMiB),
      startRow('P14-loaded', `resident ${what}`, one.usedMiB, goals.one.loadedMiB),
      startRow('P14-six', 'spawn to ready with six families, ms', six.readyMs, goals.six.readyMs, six.spent),
      startRow('P14-six-idle', 'resident memory idle, six families, MiB', six.idleMiB, goals.six.idleMiB),
    ]
  } finally {
    await network.stop()
    await rm(directory, { recursive: true, force: true })
  }
}

/** One running chain of each other family beside those of the network. */
async function withFamilies<Result>(
  network: TestNetwork,
  work: (variables: Readonly<Record<string, string>>) => Promise<Result>,
): Promise<Result> {
  const [depositor] = network.keys.users
  if (depositor === undefined) throw new Error('the network has no user')
  const ports = {
    solana: await freeLoopbackPort(),
    bitcoin: await freeLoopbackPort(),
    tron: await freeLoopbackPort(),
    hyperliquid: await freeLoopbackPort(),
    lighter: await freeLoopbackPort(),
    control: await freeLoopbackPort(),
  }
  const families = await startFamilies(ports, {
    node: { url: network.chains.base.url, chainId: localChainIds.base },
    tronDepository: network.deployment.tron.depository,
    tronUsdc: network.deployment.tron.usdc,
    depositor: { address: depositor.address, privateKey: depositor.privateKey },
  })
  try {
    return await work(familyVariables(families.facts))
  } finally {
    for (const key of familyKeys) await families.silence(key)
  }
}

async function startOracle(
  network: TestNetwork,
  variables: Readonly<Record<string, string>>,
): Promise<Started> {
  const port = await freeLoopbackPort()
  const url = `http://127.0.0.1:${port}`
  const env = oracleEnvironment(network, {
    HTTP_PORT: String(port),
    FINAL_RESULTS_KEPT_MAX: '0',
    ...variables,
  })
  return startService(serviceScripts.oracle, { env, url, readyUrl: `${url}/lives/ready/v1` })
}
