"""Questions about a class over tables: sixty, half of them set aside."""
