// Links the wallet of WALLET_PRIVATE_KEY to the key API_KEY of the service at QUOTE_API.
import { privateKeyToAccount } from 'viem/accounts'

const { QUOTE_API, API_KEY = '', WALLET_PRIVATE_KEY } = process.env
const account = privateKeyToAccount(`0x${WALLET_PRIVATE_KEY?.slice(2)}`)

async function post(path: string, body: object) {
  const response = await fetch(`${QUOTE_API}/sponsorship/wallets/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': API_KEY },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(text)
  return JSON.parse(text)
}

const wallet = account.address
const { message, nonce } = await post('challenge', { wallet })
const signature = await account.signMessage({ message })
console.log(await post('link', { wallet, nonce, signature }))
