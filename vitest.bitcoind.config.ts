import { defineConfig } from 'vitest/config'

/** `npm test -- --suite=bitcoind`: needs a bitcoind, which no npm package brings. See docs/internals/bitcoin-reader.md. */
export default defineConfig({
  test: {
    include: ['test/families/bitcoind/*.live.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
})
