// The public widget on a page, as its documentation puts it there. Whoever hands the page out says in `settings.json`
// which service it asks, by which nodes, and what it offers first; what happens is told in `window.widgetEvents`.
import { RelayKitProvider, SwapWidget } from '@relayprotocol/relay-kit-ui'
import '@relayprotocol/relay-kit-ui/styles.css'
import { adaptViemWallet } from '@relayprotocol/relay-sdk'
import { configureViemChain } from '@relayprotocol/relay-sdk/chain-utils'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { createElement, useMemo, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { createWalletClient, custom, defineChain } from 'viem'
import { createConfig, http, injected, useAccount, useConnect, WagmiProvider } from 'wagmi'

// Never from the address bar: a link would then choose the service whose transactions people sign here.
const { api, nodes, account, from, to, amount } = await (await fetch('settings.json')).json()
window.widgetEvents = []
const tell = (name) => window.widgetEvents.push(name)

const { chains: listed } = await (await fetch(`${api}/chains`)).json()
const chains = listed.map((chain) => ({
  listed: chain,
  viem: defineChain({
    id: chain.id,
    name: chain.displayName,
    nativeCurrency: {
      name: chain.currency.name,
      symbol: chain.currency.symbol,
      decimals: chain.currency.decimals,
    },
    // The service names no node of a local network.
    rpcUrls: { default: { http: [chain.httpRpcUrl || nodes[chain.id]] } },
  }),
}))
const viemChains = chains.map(({ viem }) => viem)
const relayChains = chains.map(({ listed: chain, viem }) => ({
  // Its icon is the one that the service names, or none.
  ...configureViemChain(chain),
  httpRpcUrl: viem.rpcUrls.default.http[0],
  viemChain: viem,
}))
const wagmi = createConfig({
  chains: viemChains,
  connectors: [injected()],
  transports: Object.fromEntries(viemChains.map(({ id, rpcUrls }) => [id, http(rpcUrls.default.http[0])])),
})

function Widget() {
  const { address, isConnected } = useAccount()
  const { connect, connectors } = useConnect()
  const [fromToken, setFromToken] = useState(from)
  const [toToken, setToToken] = useState(to)
  const wallet = useMemo(() => {
    if (!isConnected) return undefined
    const chain = viemChains.find(({ id }) => id === from.chainId)
    return adaptViemWallet(
      createWalletClient({ account: address ?? account, chain, transport: custom(window.ethereum) }),
    )
  }, [address, isConnected])
  return createElement(SwapWidget, {
    fromToken,
    setFromToken,
    toToken,
    setToToken,
    defaultAmount: amount,
    supportedWalletVMs: ['evm'],
    wallet,
    onConnectWallet: () => connect({ connector: connectors[0] }),
    onAnalyticEvent: (name) => tell(name),
    onSwapSuccess: () => tell('page:success'),
    onSwapError: (error) => tell(`page:error ${error}`),
  })
}

createRoot(document.getElementById('root')).render(
  createElement(
    RelayKitProvider,
    { options: { chains: relayChains, baseApiUrl: api, source: 'shop.example', appName: 'Causeway' } },
    createElement(
      WagmiProvider,
      { config: wagmi },
      createElement(QueryClientProvider, { client: new QueryClient() }, createElement(Widget)),
    ),
  ),
)
