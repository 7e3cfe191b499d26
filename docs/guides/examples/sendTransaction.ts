// Sends the transaction of the JSON file named on the command line, signed by WALLET_PRIVATE_KEY, over RPC_URL.
import { readFileSync } from 'node:fs'
import { createWalletClient, defineChain, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

const { RPC_URL = '', WALLET_PRIVATE_KEY } = process.env
const { chainId: id, to, data } = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'))
const nativeCurrency = { name: 'Ether', symbol: 'ETH', decimals: 18 }
const chain = defineChain({ id, name: `${id}`, nativeCurrency, rpcUrls: { default: { http: [RPC_URL] } } })
const account = privateKeyToAccount(`0x${WALLET_PRIVATE_KEY?.slice(2)}`)
console.log(await createWalletClient({ account, chain, transport: http() }).sendTransaction({ to, data }))
