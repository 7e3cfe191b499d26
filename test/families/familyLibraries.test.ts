// Goal: the library of a family costs nobody who reads nothing of that family. Method: a process per family that
// opens one chain and looks at what was loaded.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const script = fileURLToPath(new URL('./familyLibrariesProcess.ts', import.meta.url))
const run = promisify(execFile)

test.each<[string, readonly string[]]>([
  ['nothing', []],
  ['ethereum', []],
  ['bitcoin', []],
  ['solana', []],
  ['tron', []],
  ['used', ['bitcoinjs-lib', '@solana/web3.js', 'viem']],
])('O-139: a service with %s has loaded the libraries of what it read alone', async (opened, libraries) => {
  const { stdout } = await run(process.execPath, [script, opened])
  expect(JSON.parse(stdout)).toEqual(libraries)
})
