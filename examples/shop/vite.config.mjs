import { createRequire } from 'node:module'
import { defineConfig } from 'vite'

const fromPage = createRequire(import.meta.url)
const fromWidget = createRequire(fromPage.resolve('@relayprotocol/relay-kit-ui'))
// The page wraps its wallet with the client that the widget brings along, whatever other version is installed.
const clientFile = (name) => fromWidget.resolve(name).replace('/_cjs/', '/_esm/')
const aliases = ['@relayprotocol/relay-sdk', '@relayprotocol/relay-sdk/chain-utils'].map((name) => ({
  find: new RegExp(`^${name}$`),
  replacement: clientFile(name),
}))

export default defineConfig({
  define: { 'process.env': {}, global: 'globalThis' },
  resolve: { alias: aliases },
  base: './',
  build: { target: 'es2022', minify: false, chunkSizeWarningLimit: 20_000 },
})
