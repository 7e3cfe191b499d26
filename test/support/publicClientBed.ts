import type { Hex } from '@causeway/core'
import type { Session } from '@causeway/localnet'
import * as newest from '@relayprotocol/relay-sdk'
import { createWalletClient, defineChain, http, type WalletClient } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { startSessionBed, type UserChain } from './sessionBed.ts'

export const nativeCurrency: Hex = `0x${'0'.repeat(40)}`

/** Members of the public client's package in use, whatever its version. */
type Published = Pick<typeof newest, 'createClient' | 'convertViemChainToRelayChain'>

/** The whole local network, as `npm start` runs it, and the public client pointed at its quote-api. */
export type PublicClientBed = {
  readonly session: Session
  readonly url: string
  readonly client: newest.RelayClient
  /** The client of another version of the package. */
  connect(published: Published, options?: Pick<newest.RelayClientOptions, 'websocket'>): newest.RelayClient
  /** A wallet of the n-th funded user, on one chain. */
  wallet(userIndex: number, chain: UserChain): WalletClient
  user(index: number): Hex
  stop(): Promise<void>
}

/** Its parameters are those of `startSessionBed`. */
export async function startPublicClientBed(
  ...settings: Parameters<typeof startSessionBed>
): Promise<PublicClientBed> {
  const { session, url, stop } = await startSessionBed(...settings)
  const chainOf = (key: UserChain) => {
    const { chainId, url: rpcUrl } = session.network.chains[key]
    return defineChain({
      id: chainId,
      name: key,
      nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
      rpcUrls: { default: { http: [rpcUrl] } },
    })
  }
  const connect: PublicClientBed['connect'] = (published, options = {}) => {
    const { createClient, convertViemChainToRelayChain } = published
    return createClient({
      ...options,
      baseApiUrl: url,
      source: 'public-client.test',
      pollingInterval: 250,
      chains: [
        convertViemChainToRelayChain(chainOf('base')),
        convertViemChainToRelayChain(chainOf('optimism')),
      ],
    })
  }
  const account = (index: number) => {
    const user = session.network.keys.users[index]
    if (user === undefined) throw new Error(`no user ${index}`)
    return user
  }
  return {
    session,
    url,
    client: connect(newest),
    connect,
    stop,
    user: (index) => account(index).address,
    wallet: (index, key) =>
      createWalletClient({
        account: privateKeyToAccount(account(index).privateKey),
        chain: chainOf(key),
        transport: http(session.network.chains[key].url),
        pollingInterval: 100,
      }),
  }
}
