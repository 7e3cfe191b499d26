// Goal: a container that was taken reaches its neighbours no further than its service needs, and what is emptied or
// updated leaves a replica. Who gains: the taken container, and somebody on the internet.
import { expect, test } from 'vitest'
import { kubernetes, problemsWith } from './planted.ts'

test.each<[string, string, string | RegExp, string, string]>([
  [
    'a selector of other pods',
    'solver',
    /(selector:\n\s+matchLabels:\n\s+app\S+ )solver/,
    '$1quote-api',
    'its selector matches its pods',
  ],
  [
    'a spread of other pods',
    'solver',
    /(labelSelector:\n\s+matchLabels:\n\s+app\S+ )solver/,
    '$1oracle',
    'selects its own pods',
  ],
  [
    'replicas on one machine',
    'quote-api',
    /topologySpreadConstraints:[\s\S]*?containers:/,
    'containers:',
    'replicas spread',
  ],
  [
    'a budget that lets all go',
    'quote-api',
    'maxUnavailable: 1',
    'maxUnavailable: 2',
    'a budget with maxUnavailable 1',
  ],
  [
    'a budget of nobody',
    'quote-api',
    /(unhealthy.*\n\s+selector:\n\s+matchLabels:\n\s+app\S+ )quote-api/,
    '$1quotes',
    'selects no pod',
  ],
  [
    'an update with a replica less',
    'quote-api',
    'maxUnavailable: 0',
    'maxUnavailable: 1',
    'without a replica less',
  ],
  [
    'a Service of nobody',
    'oracle',
    /(spec:\n\s+selector:\n\s+app\S+ )oracle\n/,
    '$1orcale\n',
    'Service oracle selects no pod',
  ],
  [
    'a Service of the operations port',
    'quote-api',
    'targetPort: http',
    'targetPort: ops',
    'another port than http',
  ],
  [
    'a Service past the proxy',
    'quote-api',
    /(kind: Service[\s\S]*?spec:\n)/,
    '$1  type: LoadBalancer\n',
    'reachable past the proxy',
  ],
  [
    'no denial of everything',
    'namespace',
    'policyTypes: [Ingress, Egress]',
    'policyTypes: [Ingress]',
    'denies everything',
  ],
  [
    'a namespace that takes any pod',
    'own-hub/namespace',
    'enforce: restricted',
    'enforce: privileged',
    'restricted pod security',
  ],
  [
    'a service without policy',
    'solver',
    /podSelector:\n\s+matchLabels:\n\s+app\S+ solver/,
    'podSelector:\n    matchLabels:\n      app.kubernetes.io/name: resolver',
    'solver has no NetworkPolicy',
  ],
  ['a port for everybody', 'oracle', /- from:[\s\S]*?ports:/, '- ports:', 'lets everybody in'],
  [
    'a policy for a port that is not open',
    'oracle',
    'port: 3001',
    'port: 3002',
    'port 3002 is one that no container opens',
  ],
  [
    'a way that the other end does not know',
    'quote-api',
    '          port: 3000',
    '          port: 3001',
    'do not let it in',
  ],
  ['a way to the whole internet', 'oracle', 'port: 443', 'port: 22', 'leads to port 22'],
  [
    'a way to the metadata service',
    'oracle',
    '              - 169.254.0.0/16\n',
    '',
    'leads to 169.254.0.0/16',
  ],
])('O-190, O-192: refuses %s', (_what, name, from, to, problem) => {
  expect(problemsWith(kubernetes(name), from, to)).toContain(problem)
})
