import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Hex } from '@causeway/core'
import { freePort, type Session, servicePlans, startSession } from '@causeway/localnet'
import { convertViemChainToRelayChain, createClient, type RelayClient } from '@relayprotocol/relay-sdk'
import { createWalletClient, defineChain, http, type WalletClient } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

export type UserChain = 'base' | 'optimism'
const repositoryRoot = fileURLToPath(new URL('../..', import.meta.url))
export const nativeCurrency: Hex = `0x${'0'.repeat(40)}`

/** Below the ports that the system hands out by itself: a service binds its own seconds after they are chosen. */
const firstPort = 20_000 + (process.pid % 500) * 20

/** The whole local network, as `npm start` runs it, and the public client pointed at its quote-api. */
export type PublicClientBed = {
  readonly session: Session
  readonly url: string
  readonly client: RelayClient
  /** A wallet of the n-th funded user, on one chain. */
  wallet(userIndex: number, chain: UserChain): WalletClient
  user(index: number): Hex
  stop(): Promise<void>
}

export async function startPublicClientBed(): Promise<PublicClientBed> {
  const directory = await mkdtemp(join(tmpdir(), 'causeway-public-client-'))
  const [base, optimism, hub] = [await freePort(), await freePort(), await freePort()]
  const session = await startSession({
    directory: join(directory, '.local'),
    fresh: false,
    services: servicePlans,
    ports: { base, optimism, hub },
    firstPorts: { quote: firstPort, oracle: firstPort + 10 },
    repositoryRoot,
    environment: { PATH: process.env['PATH'], LOG_LEVEL: 'warn' },
    report: () => {},
    stageDone: () => {},
    signal: new AbortController().signal,
  })
  const quoteApi = session.services.find(({ plan }) => plan.name === 'quote-api')
  const url = `http://127.0.0.1:${quoteApi?.ports['http']}`
  const chainOf = (key: UserChain) => {
    const { chainId, url: rpcUrl } = session.network.chains[key]
    return defineChain({
      ...{ id: chainId, name: key, nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 } },
      rpcUrls: { default: { http: [rpcUrl] } },
    })
  }
  const client = createClient({
    baseApiUrl: url,
    source: 'public-client.test',
    pollingInterval: 250,
    chains: [
      convertViemChainToRelayChain(chainOf('base')),
      convertViemChainToRelayChain(chainOf('optimism')),
    ],
  })
  const account = (index: number) => {
    const user = session.network.keys.users[index]
    if (user === undefined) throw new Error(`no user ${index}`)
    return user
  }
  return {
    session,
    url,
    client,
    user: (index) => account(index).address,
    wallet: (index, key) =>
      createWalletClient({
        account: privateKeyToAccount(account(index).privateKey),
        chain: chainOf(key),
        transport: http(session.network.chains[key].url),
        pollingInterval: 100,
      }),
    async stop() {
      await session.stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}
