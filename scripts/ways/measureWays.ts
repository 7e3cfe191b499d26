import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbeddedPostgres } from '@causeway/database'
import { depositoryAbi, startTestNetwork, type TestNetwork, waitUntil } from '@causeway/localnet'
import { encodeFunctionData } from 'viem'
import type { WayName } from './listedFiles.ts'
import { type MeasuredService, startMeasured } from './measuredService.ts'
import { type RequestFiles, requestFiles } from './requestFiles.ts'

/** Asks real services over a network of its own: for a quoted bridge, stored, and for an attested deposit. */
export async function measureWays(): Promise<Readonly<Record<WayName, RequestFiles>>> {
  const network = await startTestNetwork()
  const directory = await mkdtemp(join(tmpdir(), 'causeway-ways-'))
  try {
    return {
      amount: await wayOfAmount(network, directory),
      transactionId: await wayOfTransaction(network),
    }
  } finally {
    await network.stop()
    await rm(directory, { recursive: true, force: true })
  }
}

async function wayOfAmount(running: TestNetwork, folder: string): Promise<RequestFiles> {
  const { chains, keys, deployment } = running
  // They mine only when told, and a chain without new blocks grows too old to be priced.
  const mine = async () => {
    await Promise.all([running.mine('base'), running.mine('optimism')])
  }
  const server = await startEmbeddedPostgres({ dataDirectory: join(folder, 'postgres'), durable: false })
  const keyFile = join(folder, 'order-signer.key')
  await writeFile(keyFile, keys.orderSigner.privateKey, { mode: 0o600 })
  const service = await startMeasured('apps/quote-api/src/main.ts', {
    ...endpoints(chains),
    ...{ ADMIN_PORT: '0', JOBS: 'off', DATABASE_URL: server.connectionString, CAUSEWAY_LOCAL_DIR: folder },
    ...{ FILL_WALLET_ADDRESS: keys.fillWallet.address, ECDSA_PRIVATE_KEY_FILE: keyFile },
  })
  try {
    const user = keys.users[0]?.address
    const body = {
      ...{ user, recipient: user, originChainId: chains.base.chainId },
      ...{ destinationChainId: chains.optimism.chainId, amount: '25000000', tradeType: 'EXACT_INPUT' },
      originCurrency: deployment.base.tokens.USDC,
      destinationCurrency: deployment.optimism.tokens.USDC,
    }
    const ask = () => post(service, '/quote', body, mine)
    // What is read and built once for all requests belongs to none.
    for (let round = 0; round < 3; round += 1) await ask()
    return await requestFiles(service, [ask, ask, ask])
  } finally {
    await service.stop()
    await server.stop()
  }
}

async function wayOfTransaction(running: TestNetwork): Promise<RequestFiles> {
  const { chains, keys } = running
  const first = await deposit(running)
  const others = [await deposit(running), await deposit(running), await deposit(running)]
  await running.mine('base', 3)
  const service = await startMeasured('apps/oracle/src/main.ts', {
    ...endpoints(chains),
    ...{ UNAUTHENTICATED_RATE_LIMIT_MAX: '0', ECDSA_PRIVATE_KEY: keys.oracles[0].privateKey },
    // Else the deposit would be attested before the request that is measured.
    AHEAD: 'off',
  })
  try {
    const ask = (transactionId: string) =>
      post(service, '/attestations/depository-deposits/v1', { chainId: 'base', transactionId })
    await ask(first)
    return await requestFiles(
      service,
      others.map((transaction) => () => ask(transaction)),
    )
  } finally {
    await service.stop()
  }
}

/** @returns the transaction */
async function deposit({ chains, deployment, keys }: TestNetwork): Promise<string> {
  const [user] = keys.users
  if (user === undefined) throw new Error('the network has no users')
  const noOrder = `0x${'00'.repeat(32)}` as const
  const args = [user.address, noOrder] as const
  const data = encodeFunctionData({ abi: depositoryAbi, functionName: 'depositNative', args })
  await chains.base.chain.send(user, [
    { what: 'deposit', to: deployment.base.depository, data, valueWei: 1_000n },
  ])
  const { transactions } = await chains.base.chain.client.getBlock()
  const [transaction] = transactions
  if (transaction === undefined) throw new Error('the deposit is in no block')
  return transaction
}

function endpoints(chains: TestNetwork['chains']): Record<string, string> {
  return {
    ...{ ENVIRONMENT: 'local', HTTP_HOST: '127.0.0.1', HTTP_PORT: '0', OPS_PORT: '0' },
    ...{ BASE_RPC_URL: chains.base.url, OPTIMISM_RPC_URL: chains.optimism.url },
    RELAY_RPC_URL: chains.hub.url,
  }
}

/**
 * Asks again while the service says 503: what one round runs beside a request does not count.
 * @param refresh makes what the service finds too old new
 */
async function post(
  { publicUrl }: MeasuredService,
  path: string,
  body: object,
  refresh: () => Promise<void> = async () => {},
): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  let answer = ''
  const isAnswered = async () => {
    const response = await fetch(publicUrl + path, { method: 'POST', headers, body: JSON.stringify(body) })
    answer = `${response.status} ${await response.text()}`
    if (response.status === 503) await refresh()
    else if (response.status !== 200) throw new Error(`${path}: ${answer}`)
    return response.status === 200
  }
  await waitUntil(`${path} is answered`, isAnswered, { pollMs: 500, circumstances: () => answer })
}
