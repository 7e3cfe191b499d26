#!/usr/bin/env node
// The pinned compiler, for forge, which asks it as it asks the native one. What ships is read for its types alone:
// its code is committed, and tests run that. This is four times as fast.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const solc = createRequire(import.meta.url)('solc')

if (process.argv.includes('--version')) {
  process.stdout.write(`solc, the solidity compiler commandline interface\nVersion: ${solc.version()}\n`)
} else {
  const input = JSON.parse(readFileSync(0, 'utf8'))
  const outputs = { '*': ['abi', 'evm.bytecode', 'evm.deployedBytecode', 'evm.methodIdentifiers'] }
  const isTest = (path) => path.startsWith('test/') || path.includes('/test/')
  input.settings.outputSelection = Object.fromEntries(
    Object.keys(input.sources).map((path) => [path, isTest(path) ? outputs : { '*': ['abi'] }]),
  )
  process.stdout.write(solc.compile(JSON.stringify(input)))
}
