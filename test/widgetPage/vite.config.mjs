import { createRequire } from 'node:module'
import { defineConfig } from 'vite'

const fromPage = createRequire(import.meta.url)
const fromWidget = createRequire(fromPage.resolve('@relayprotocol/relay-kit-ui'))
// The page wraps its wallet with the client that the widget brings along, whatever other version is installed.
const client = fromWidget.resolve('@relayprotocol/relay-sdk').replace('/_cjs/', '/_esm/')

export default defineConfig({
  define: { 'process.env': {}, global: 'globalThis' },
  resolve: { alias: [{ find: /^@relayprotocol\/relay-sdk$/, replacement: client }] },
  base: './',
  build: { target: 'es2022', minify: false, chunkSizeWarningLimit: 20_000 },
})
