// `npm run shop`: the application of `examples/shop` before the local network that runs in this folder, until Ctrl-C: its
// page with the public widget, and the proxy that keeps the sponsor's key out of the browser. SHOP_PORT says where.
import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { extname, join, resolve } from 'node:path'
import { oneCommand, takeCommandLine } from '@causeway/cli'
import { listenPort } from '@causeway/core/config'
import { type DemoNetwork, readDemoNetwork } from './demo/network.ts'
import { builtShopPage } from './shop/builtPage.ts'
import { readPlaces } from './start/options.ts'

const root = join(import.meta.dirname, '..')
/** The most of one quote. */
const subsidyMaxMicroUsd = '500000'
const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
}

const about =
  'Opens the application of examples/shop beside npm start; SHOP_PORT says where, by default 8787.'
takeCommandLine(process.argv.slice(2), oneCommand('npm run shop --', about))
const { directory } = readPlaces(process.env, root)
const network = await readDemoNetwork(join(directory, 'network.json'))
if (network === undefined) {
  console.error('No local network runs here: start one with npm start, and this beside it.')
  process.exit(1)
}
const port = listenPort.default(8787).parse(process.env['SHOP_PORT'] || undefined)
console.log('Building the page of examples/shop …')
const folder = await builtShopPage()
/** Known once the proxy listens. */
let settings: object | undefined
const server = createServer((request, response) => {
  const { pathname } = new URL(request.url ?? '/', 'http://shop')
  if (pathname === '/settings.json') {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(settings))
    return
  }
  const file = resolve(folder, `.${pathname === '/' ? '/index.html' : pathname}`)
  // Resolved first: no path of a caller leads out of the folder.
  const body = file.startsWith(`${folder}/`) ? readFile(file) : Promise.reject(new Error('elsewhere'))
  body.then(
    (bytes) => response.writeHead(200, { 'content-type': types[extname(file)] ?? 'text/plain' }).end(bytes),
    () => response.writeHead(404).end(),
  )
})
await new Promise<void>((listening) => server.listen(port, '127.0.0.1', listening))
const address = server.address()
if (address === null || typeof address === 'string') throw new Error('the page listens on a port')
const page = `http://127.0.0.1:${address.port}`

const proxy = spawn(process.execPath, [join(root, 'docs/guides/examples/sponsorProxy.ts')], {
  cwd: root,
  // The key goes to the proxy alone. Its own port: whichever is free.
  env: {
    PATH: process.env['PATH'],
    PORT: '0',
    ALLOWED_ORIGIN: page,
    QUOTE_API: network.quoteApi.url,
    API_KEY: network.sponsor.apiKey,
    MAX_SUBSIDY_MICRO_USD: subsidyMaxMicroUsd,
  },
  stdio: ['ignore', 'pipe', 'inherit'],
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => proxy.kill(signal))
proxy.on('exit', (code) => {
  server.close()
  server.closeAllConnections()
  process.exitCode = code ?? 0
})
const api = await new Promise<string>((listening, failed) => {
  proxy.on('exit', () => failed(new Error('the proxy ended before it listened')))
  proxy.stdout.on('data', (chunk: Buffer) => {
    const [, url] = /listening (\S+)/.exec(chunk.toString()) ?? []
    if (url !== undefined) listening(url)
  })
})
settings = settingsOf(network, api)
console.log(`The shop is open: ${page}`)
console.log(`Its proxy: ${api}. The sponsor pays fees up to ${subsidyMaxMicroUsd} micro-USDC a quote.`)

/** The settings of the page: the service, by way of the proxy, and what it offers first. */
function settingsOf({ chains, accounts }: DemoNetwork, proxied: string) {
  const token = (name: string) => {
    const chain = chains.find((one) => one.name === name)
    const usdc = { name: 'USDC', symbol: 'USDC', decimals: 6, logoURI: '' }
    return { ...usdc, chainId: chain?.id, address: chain?.tokens['USDC'] }
  }
  return {
    api: proxied,
    account: accounts[0]?.address,
    amount: '25',
    from: token('base'),
    to: token('optimism'),
    nodes: Object.fromEntries(chains.map(({ id, rpcUrl }) => [id, rpcUrl])),
  }
}
