/** Host names that webhook cases use, and the addresses that they have there, instead of in DNS. */
export const HOST_NAMES: Record<string, string[]> = {
  'hooks.example.org': ['93.184.215.14'],
  'inside.example.org': ['10.0.0.7'],
  'mixed.example.org': ['93.184.215.14', '192.168.1.2'],
}
